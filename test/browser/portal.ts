import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { expect, inject } from 'vitest';
import { CHROMIUM, FLAGS } from '../chromium.ts';
import { type Person, startTestHomeport, type TestHomeport, type TestOptions } from '../homeport.ts';

export const PASSWORD = 'correct horse battery';

/** A whole Homeport with its portal, and a real browser in front of it. */
export interface Portal {
  homeport: TestHomeport;
  /** A person's own browser: cookies of its own; nobody is signed in. */
  browser(options?: { colorScheme?: 'light' | 'dark'; width?: number }): Promise<Page>;
  /** The same, signed in as that person (without the sign-in page), whose password becomes {@link PASSWORD}. */
  signedIn(person: Person, options?: { colorScheme?: 'light' | 'dark'; width?: number }): Promise<Page>;
  remove(): Promise<void>;
}

/** Starts both; `portalFolder` is where the pages were built before the tests began (test/browser/built-portal.ts). */
export async function startPortal(options: TestOptions = {}): Promise<Portal> {
  const homeport = await startTestHomeport({ portalFolder: inject('portalFolder'), ...options });
  const profile = mkdtempSync(join(tmpdir(), 'homeport-browser-'));
  const chrome = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, env: { HOME: profile } });
  const contexts: BrowserContext[] = [];

  async function browser({
    colorScheme = 'light',
    width = 1280,
  }: {
    colorScheme?: 'light' | 'dark';
    width?: number;
  } = {}): Promise<Page> {
    const context = await chrome.newContext({
      baseURL: homeport.origin,
      // Its certificate is of its own making.
      ignoreHTTPSErrors: true,
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 900 },
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: homeport.origin });
    contexts.push(context);
    const page = await context.newPage();
    // Of no account where all is well; a machine with other work may need long for a page.
    page.setDefaultTimeout(30_000);
    return page;
  }

  return {
    homeport,
    browser,
    async signedIn(person, look) {
      await homeport.setPassword(person, PASSWORD);
      const page = await browser(look);
      const answer = await page.request.post('/portal/api/session', {
        data: { email: person.email, password: PASSWORD },
        headers: { origin: homeport.origin },
      });
      expect(answer.status()).toBe(200);
      await page.goto('/');
      await page.getByRole('navigation', { name: 'Account' }).waitFor();
      return page;
    },
    async remove() {
      for (const context of contexts) await context.close();
      await chrome.close();
      await homeport.remove();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** What has the focus: its name by its label or words, or the name of its element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement?.textContent || document.activeElement?.tagName');

const Findings = Type.Array(
  Type.Object({
    id: Type.String(),
    help: Type.String(),
    nodes: Type.Array(Type.Object({ html: Type.String(), failureSummary: Type.Optional(Type.String()) })),
  }),
);

/**
 * Holds what the page shows now against WCAG 2.2 A and AA and the best practices, or against those `rules` of axe alone; fails with
 * what is wrong where.
 */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  // By the debugger and not as a script of the page: the policy allows none but the portal's own.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules ? { runOnly: rules } : {}) };
  const found: unknown = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then((run) => run.violations)`,
  );
  const violations = Value.Parse(Findings, found).map(({ id, help, nodes }) => ({
    rule: `${id}: ${help}`,
    at: nodes.map(({ html, failureSummary }) => `${html} (${failureSummary ?? ''})`),
  }));
  expect(violations).toEqual([]);
}
