/** User of the control plane if root starts it. `homeport host setup` creates it. */
export const CONTROL_PLANE_USER = 'homeport';
