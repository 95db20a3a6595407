/**
 * The stage of a sign-in. `second_factor`: the password was right, and a code is still needed. `enrolment`: an account
 * requires a second factor that the user has not set up. `full`: signed in.
 */
export const SESSION_STAGES = ['second_factor', 'enrolment', 'full'] as const;
export type SessionStage = (typeof SESSION_STAGES)[number];

/** A browser session of a user. */
export interface Session {
  id: string;
  userId: string;
  stage: SessionStage;
}

export interface SessionVerifier {
  /** The session of a cookie's token; null if it is unknown, ended or expired. `isUse` counts as activity and extends the session. */
  verify(token: string, isUse: boolean): Promise<Session | null>;
  /**
   * Whether the session of a token expired in the last days: it was not used, or it reached its maximum age. False if it was ended, for
   * example by a sign-out or a new password.
   */
  hasExpired(token: string): Promise<boolean>;
}
