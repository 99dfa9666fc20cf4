"""Small robots for front-ends: a fixed arm with a spherical joint, and one that floats."""

from __future__ import annotations

LINK = """<link name="{0}"><inertial><mass value="1.3"/><origin xyz="0.1 0.02 0.2" rpy="0.1 0.2 0.3"/>
<inertia ixx="0.1" iyy="0.12" izz="0.15" ixy="0.01" ixz="0" iyz="0.02"/></inertial></link>"""

URDF = f"""<robot name="small">{"".join(map(LINK.format, "abc"))}
<joint name="hinge" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0.3" rpy="0.3 0 0.1"/>
<axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
<joint name="ball" type="spherical"><parent link="b"/><child link="c"/><origin xyz="0.2 0 0.1" rpy="0 0.2 0"/></joint>
</robot>"""
