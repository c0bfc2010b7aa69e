"""Robot files that several tests write beside a scene, for processes that read both."""

ARM = """
<mujoco>
  <worldbody>
    <body name="arm">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
    </body>
  </worldbody>
</mujoco>
"""
"""A link that hangs from a hinge."""
