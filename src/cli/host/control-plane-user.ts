/** The user that the control plane runs as where root starts it; `homeport host setup` makes it. */
export const CONTROL_PLANE_USER = 'homeport';
