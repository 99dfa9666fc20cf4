"""Processes of the earlier version, for which a package of the same name stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.against_peer import cells
from benchmarks.calls import Call, Times
from benchmarks.peers.grid_rbd_060 import VARIABLE, Peer, PeerError, Request, request
from benchmarks.robots import GO2, IIWA14

CALLS = (Call("idsva_so"), Call("com", ("q",)), Call("frame_jacobian", ("q",), {"target_jid": 3}))

PACKAGE = """\
import time

class Handle:
    nq, nv = 7, 7
    def idsva_so(self, q, qd, u):
        assert u.shape == (len(q), 7)
        time.sleep(0.001)
    def com(self, q): raise NotImplementedError("com is not built\\nsecond line")
    def frame_jacobian(self, q, *, target_jid):
        assert target_jid == 3
        time.sleep(0.001)

def register_robot(name, path, *, algorithm_list, cache_dir, enable_mujoco_kernels, max_batch_size, **rest):
    assert algorithm_list == ["com", "frame_jacobian", "idsva_so_body_frame"], algorithm_list
    assert rest == {"floating_base": name == "slow", "backend": rest["backend"]}
    if name == "slow": time.sleep(60)
    if name == "broken": raise RuntimeError
    return Handle()
"""


@pytest.fixture
def peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Peer:
    package = tmp_path / "site" / "grid_rbd"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE, "utf-8")
    monkeypatch.setenv(VARIABLE, str(package.parent))
    assert Peer.missing() == ""
    return Peer(tmp_path)


def asked(name: str) -> Request:
    return request(name, GO2 if name == "slow" else IIWA14, CALLS, (2, 4))


def test_builds_run_while_the_caller_goes_on(peer: Peer) -> None:
    with peer.builds([asked("slow"), asked("arm"), asked("broken")]) as builds:
        assert builds["arm"].seconds() < 60
        with pytest.raises(PeerError, match="failed with exit status 1"):
            builds["broken"].seconds()
        with pytest.raises(PeerError, match="was not ready"):
            builds["slow"].seconds(0.1)
    with pytest.raises(PeerError, match="exit status -9"):
        builds["slow"].seconds()


def test_calls_that_the_peer_refuses_are_left_out(peer: Peer, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = peer.host_times(asked("arm"))
    assert theirs.refused == {"com": "NotImplementedError: com is not built"}
    own = Times({call.name: {"2": 1.0, "4": 1.0} for call in CALLS})
    found = {m.key: m.value for m in cells("gpu.arm", "host", own, theirs)}
    assert found["gpu.arm.frame_jacobian.3.batch4.host_speedup"] == theirs.microseconds["frame_jacobian.3"]["4"]
    assert "gpu.arm.com.batch2.host_us" in found
    assert "gpu.arm.com.batch2.host_speedup" not in found
    assert "gpu.arm.com: peer: NotImplementedError" in capsys.readouterr().err


def test_says_where_it_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert "has no grid_rbd" in Peer.missing()
    monkeypatch.delenv(VARIABLE)
    assert "is not set" in Peer.missing()
