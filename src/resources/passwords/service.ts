import type { Session } from '../../access/session.ts';
import type { Platform } from '../../platform.ts';
import type { SessionOrigin } from '../sessions/service.ts';

export interface PasswordService {
  /** Has a mail sent if somebody has the address. Takes as long, and says as much, if nobody has. Throws RateLimited. */
  requestReset(email: string, origin: SessionOrigin): Promise<void>;
  /** Throws NotFound. */
  findLink(token: string): Promise<{ email: string; first_name: string; purpose: 'first' | 'reset' }>;
  /** Throws NotFound. */
  setByLink(token: string, password: string, origin: SessionOrigin): Promise<void>;
  /** Throws InvalidRequest where the current password is not right, RateLimited. */
  change(
    session: Session | null,
    input: { current_password: string; password: string },
    origin: SessionOrigin,
  ): Promise<void>;
  /** Makes a link for somebody; earlier ones stop working. For the first start, mails and the command line. Throws NotFound. */
  createLink(userId: string, purpose: 'first' | 'reset'): Promise<string>;
}

const unbuilt = async (): Promise<never> => {
  throw new Error('being built');
};

export function createPasswordService(_platform: Platform): PasswordService {
  return {
    requestReset: unbuilt,
    findLink: unbuilt,
    setByLink: unbuilt,
    change: unbuilt,
    createLink: unbuilt,
  };
}
