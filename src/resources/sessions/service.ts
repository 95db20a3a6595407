import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import type { Session, SessionStage, SessionVerifier } from '../../access/session.ts';
import type { Platform } from '../../platform.ts';
import type { presentSessionSchema, sessionSchema } from './schema.ts';

/** What a browser is given once the password, or the second factor, was right. */
export interface MadeSession {
  /** For the cookie; only its hash is kept. */
  token: string;
  expiresAt: Date;
  stage: SessionStage;
}

export interface SignIn {
  email: string;
  password: string;
  address: string;
  userAgent: string | null;
  requestId: string;
  /** A session that the same browser still has; it ends. */
  replaced: Session | null;
}

/** Where a request of a session comes from, for the activity log. */
export interface SessionOrigin {
  address: string;
  requestId: string;
}

export interface SessionService extends SessionVerifier {
  /** Throws Unauthenticated, RateLimited. */
  signIn(attempt: SignIn): Promise<MadeSession>;
  /** Throws Unauthenticated, RateLimited. */
  passSecondFactor(session: Session, code: string, origin: SessionOrigin): Promise<MadeSession>;
  present(session: Session): Promise<Static<typeof presentSessionSchema>>;
  signOut(session: Session, origin: SessionOrigin): Promise<void>;
  list(session: Session): Promise<Static<typeof sessionSchema>[]>;
  /** Ends one session of the caller's. Throws NotFound. */
  end(caller: Caller, sessionId: string): Promise<void>;
  endOthers(session: Session, origin: SessionOrigin): Promise<void>;
}

const unbuilt = async (): Promise<never> => {
  throw new Error('being built');
};

export function createSessionService(_platform: Platform): SessionService {
  return {
    verify: unbuilt,
    signIn: unbuilt,
    passSecondFactor: unbuilt,
    present: unbuilt,
    signOut: unbuilt,
    list: unbuilt,
    end: unbuilt,
    endOthers: unbuilt,
  };
}
