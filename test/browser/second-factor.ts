import { generate } from 'otplib/functional';
import type { Page } from 'playwright-core';
import type { Clock } from '../../src/lib/clock.ts';
import { expectAccessibleInLong, PASSWORD } from './portal.ts';

/** A clock that tests can advance, because a one-time code works once and the next one needs 30 seconds. */
export interface SkippingClock extends Clock {
  skip(seconds: number): void;
}

export function skippingClock(): SkippingClock {
  let skipped = 0;
  return {
    now: () => new Date(Date.now() + skipped),
    skip(seconds) {
      skipped += seconds * 1000;
    },
  };
}

/** A user's authenticator app. */
export interface AuthenticatorApp {
  /** Returns a code that was not used before. */
  code(): Promise<string>;
}

function authenticatorApp(secret: string, clock: SkippingClock): AuthenticatorApp {
  return {
    code() {
      clock.skip(30);
      return generate({ secret, epoch: Math.floor(clock.now().getTime() / 1000) });
    },
  };
}

export interface Enrolled {
  app: AuthenticatorApp;
  recoveryCodes: string[];
}

/** Sets up a second factor in the portal, from the password to the recovery codes. */
export async function enrol(page: Page, clock: SkippingClock): Promise<Enrolled> {
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  await expectAccessibleInLong(page);
  await page.getByRole('button', { name: 'Copy the secret' }).click();
  const secret = String(await page.evaluate('navigator.clipboard.readText()'));
  const app = authenticatorApp(secret, clock);
  await page.getByLabel('Six-digit code').fill(await app.code());
  await page.getByRole('button', { name: 'Turn on' }).click();
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await codes.first().waitFor();
  return { app, recoveryCodes: await codes.allTextContents() };
}

/** Confirms that the codes are saved. */
export async function keepCodes(page: Page): Promise<void> {
  await page.getByLabel('I have saved the codes').check();
  await page.getByRole('button', { name: 'Continue' }).click();
}
