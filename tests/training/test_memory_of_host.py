"""Free memory is what the machine has, within what a container may take."""

import pytest

from tagwright.training.memory import free_host_bytes

GIB = 1 << 30


@pytest.fixture
def host(tmp_path):
    """A machine with 8 GiB free; more files by their path."""

    def made(files, meminfo=f"MemTotal: 99 kB\nMemAvailable: {8 * GIB // 1024} kB\n"):
        for name, text in {"proc/meminfo": meminfo, **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return free_host_bytes(tmp_path / "proc", tmp_path / "groups")

    return made


def test_without_groups_it_is_what_the_machine_has(host):
    assert host({}) == 8 * GIB


@pytest.mark.parametrize("inside", ["job/step", "job", ""])
def test_the_tightest_group_around_the_process_counts(host, inside):
    files = {"proc/self/cgroup": "0::/job/step\n"}
    for folder in ("job/step", "job", ""):
        limit = 4 * GIB if folder == inside else "max"
        files |= {
            f"groups/{folder}/memory.max": f"{limit}\n",
            f"groups/{folder}/memory.current": f"{3 * GIB}\n",
        }
        files |= {f"groups/{folder}/memory.stat": f"anon 5\ninactive_file {GIB}\n"}
    assert host(files) == 2 * GIB


def test_groups_of_version_1_are_read(host):
    files = {"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/job\n0::/\n"}
    files |= {
        "groups/memory/job/memory.limit_in_bytes": f"{2 * GIB}",
        "groups/memory/job/memory.usage_in_bytes": f"{GIB}",
    }
    files |= {
        "groups/memory/memory.limit_in_bytes": f"{2**63 - 4096}",
        "groups/memory/memory.usage_in_bytes": "1",
    }
    assert host(files) == GIB


def test_a_group_above_its_limit_has_nothing_left_and_a_loose_one_changes_nothing(host):
    group = {
        "proc/self/cgroup": "0::/\n",
        "groups/memory.max": f"{GIB}",
        "groups/memory.current": f"{2 * GIB}",
    }
    assert host(group) == 0
    assert host(group | {"groups/memory.max": f"{64 * GIB}"}) == 8 * GIB


def test_where_linux_says_nothing_it_is_at_most_all_there_is(host):
    found = host({}, meminfo="")
    assert found is None or found > GIB // 4
