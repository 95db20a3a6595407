import { generate } from 'otplib/functional';
import type { Page } from 'playwright-core';
import type { Clock } from '../../src/lib/clock.ts';
import { expectAccessible, PASSWORD } from './portal.ts';

/** The real time, but for the waiting: a one-time code is good only once, and the next one comes after half a minute. */
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

/** A person's app. */
export interface AuthenticatorApp {
  /** A code that has not been used yet. */
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

/** Enrols through the pages, from the field for the password on to the recovery codes. */
export async function enrol(page: Page, clock: SkippingClock): Promise<Enrolled> {
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Copy the secret' }).click();
  const secret = String(await page.evaluate('navigator.clipboard.readText()'));
  const app = authenticatorApp(secret, clock);
  await page.getByLabel('Six-digit code').fill(await app.code());
  await page.getByRole('button', { name: 'Turn on' }).click();
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await codes.first().waitFor();
  return { app, recoveryCodes: await codes.allTextContents() };
}

/** Says that the codes are kept. */
export async function keepCodes(page: Page): Promise<void> {
  await page.getByLabel('I have saved the codes').check();
  await page.getByRole('button', { name: 'Continue' }).click();
}
