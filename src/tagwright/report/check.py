def check_report(facts):
    return ""
