import type { Session } from '../../access/session.ts';
import type { Platform } from '../../platform.ts';
import type { SessionOrigin } from '../sessions/service.ts';

export interface SecondFactorService {
  standing(
    session: Session | null,
  ): Promise<{ enabled: boolean; recovery_codes_left: number; required_by: string[] }>;
  /** Throws InvalidRequest where the password is not right or one is switched on already, RateLimited. */
  enrol(
    session: Session | null,
    password: string,
    origin: SessionOrigin,
  ): Promise<{ secret: string; uri: string }>;
  /** Throws InvalidRequest where the code is not right, RateLimited. */
  confirm(
    session: Session | null,
    code: string,
    origin: SessionOrigin,
  ): Promise<{ recovery_codes: string[] }>;
  /** Throws InvalidRequest where the code is not right or an account demands a second factor, RateLimited. */
  remove(session: Session | null, code: string, origin: SessionOrigin): Promise<void>;
  /** Throws InvalidRequest where the code is not right, RateLimited. */
  renewRecoveryCodes(
    session: Session | null,
    code: string,
    origin: SessionOrigin,
  ): Promise<{ recovery_codes: string[] }>;
}

const unbuilt = async (): Promise<never> => {
  throw new Error('being built');
};

export function createSecondFactorService(_platform: Platform): SecondFactorService {
  return {
    standing: unbuilt,
    enrol: unbuilt,
    confirm: unbuilt,
    remove: unbuilt,
    renewRecoveryCodes: unbuilt,
  };
}
