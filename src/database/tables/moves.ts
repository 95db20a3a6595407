import type { Generated } from 'kysely';

/** The steps in which the install is still on its former machine, or the work goes on. An install has at most one such move. */
export const OPEN_MOVE = ['copying', 'handing_over', 'switched', 'returning'] as const;

/**
 * - `copying`: the former machine serves the website; a failure ends here.
 * - `handing_over`: the new machine is complete and checked. The former one may have stopped, so the move goes forward.
 * - `switched`: the install is on the new machine.
 * - `returning`: the new machine is lost, and the operator has given up what it has. The install is on the former one again.
 * - `returned`: the former machine serves it.
 * - `moved`: nothing is left to do but the removal of the former copy.
 */
export const MOVE_STEPS = [...OPEN_MOVE, 'moved', 'returned', 'failed', 'cancelled'] as const;
export type MoveStep = (typeof MOVE_STEPS)[number];

/** The move of an install to another machine. */
export interface MoveRow {
  seq: Generated<number>;
  id: string;
  /** The install may be deleted before what is left of it on the other machine. */
  install_id: string;
  install_name: string;
  from_host: string;
  to_host: string;
  step: MoveStep;
  /** The job of the move. */
  job_id: string;
  /** Why it failed, one sentence. */
  reason: string | null;
  requested_at: string;
  /** When the install was put on the new machine. */
  switched_at: string | null;
  /** When nothing was left of the install on the machine that it is not on. Until then, that copy is no unknown website. */
  cleared_at: string | null;
}
