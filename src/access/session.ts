/**
 * How far somebody has come: `second_factor`, the password was right and a code is awaited; `enrolment`, an account of theirs
 * demands a second factor that they have not set up; `full`, signed in.
 */
export const SESSION_STAGES = ['second_factor', 'enrolment', 'full'] as const;
export type SessionStage = (typeof SESSION_STAGES)[number];

/** A browser that somebody signed in with. */
export interface Session {
  id: string;
  userId: string;
  stage: SessionStage;
}

export interface SessionVerifier {
  /**
   * The session that a cookie's token stands for; null: none, ended, expired. `isUse`: somebody is there, and the session lives on.
   */
  verify(token: string, isUse: boolean): Promise<Session | null>;
}
