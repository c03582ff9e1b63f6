"""What a report is told is what was measured."""

from dataclasses import replace

from tagwright.analysis.run_facts import card_facts, fit_facts


def test_the_card_is_told_no_text(made):
    texts = set(made[0].tables["dev"]["text"].to_pylist())
    said = repr(card_facts(*made))
    assert not any(text in said for text in texts)


def test_a_refitted_model_is_told_with_the_number_of_its_texts(made):
    prepared, fitted = made
    texts = prepared.tables["train"].num_rows + prepared.tables["dev"].num_rows
    assert fitted.settings.fit.refit
    assert fit_facts(*made).refitted_on == card_facts(*made).refitted_on == texts
    settings = replace(fitted.settings, fit=replace(fitted.settings.fit, refit=False))
    plain = replace(fitted, settings=settings)
    assert fit_facts(prepared, plain).refitted_on is None


def test_the_best_step_is_the_last_of_equals(made):
    prepared, fitted = made
    equal = [{**fitted.history[0], "step": step, "score": 1.0} for step in (3, 6, 9)]
    assert fit_facts(prepared, replace(fitted, history=equal)).best_step == 9
