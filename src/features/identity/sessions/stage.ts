import type { SessionStage } from '../../../access/session.ts';

/** How a person stands to second factors. */
export interface FactorStanding {
  /** Since when theirs is switched on; null: none is. */
  confirmed_at: string | null;
  /** An account of theirs that demands one; null: none does. */
  demanded_by: string | null;
}

/** How far a session has come. Worked out anew for each request: what an account demands holds at once. */
export function stageOf({
  awaits_second_factor,
  confirmed_at,
  demanded_by,
}: FactorStanding & { awaits_second_factor: boolean }): SessionStage {
  if (awaits_second_factor) return 'second_factor';
  return demanded_by !== null && confirmed_at === null ? 'enrolment' : 'full';
}
