import { generateSync } from 'otplib/functional';
import { text } from './client.ts';
import { PASSWORD, type PortalClient } from './portal-client.ts';

/** The code that a user's app shows at a moment. */
export function codeAt(secret: string, now: Date): string {
  return generateSync({ secret, epoch: Math.floor(now.getTime() / 1000) });
}

/** Enables the second factor of the signed-in user, with {@link PASSWORD}. */
export async function enrol(
  browser: PortalClient,
  now: Date,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const begun = await browser.post('/second_factor/enrolment', { password: PASSWORD });
  const secret = text(begun.body, 'secret');
  const confirmed = await browser.post('/second_factor', { code: codeAt(secret, now) });
  if (confirmed.status !== 200) throw new Error(`the code was answered with ${confirmed.status}`);
  return {
    secret,
    recoveryCodes: Array.from({ length: 10 }, (_, index) => text(confirmed.body, 'recovery_codes', index)),
  };
}
