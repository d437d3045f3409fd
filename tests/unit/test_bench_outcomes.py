"""What is said of faults that were caused on purpose."""

import json

from benchmarks.fault_counts import FaultOutcome, FaultReport, FaultRow


def test_a_failure_is_told_with_its_reason() -> None:
    """Under its row, and in the JSON; a control's failures are wanted, and need none."""
    outcome, control = FaultOutcome(tried=9, acknowledged=5), FaultOutcome(tried=2)
    outcome.add("corrupt", ["page 3 of message"])
    control.add("lost", ["call 1"])
    report = FaultReport(
        [FaultRow(name="losses", outcome=outcome, controls={"careless": control}, took_s=1)]
    )

    assert not report.holds
    assert "    corrupt: page 3 of message" in str(report).splitlines()
    assert "call 1" not in str(report)
    assert '"reasons": ["corrupt: page 3 of message"]' in json.dumps(report.as_json())
