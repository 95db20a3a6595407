import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { expect, inject } from 'vitest';
import { CHROMIUM, FLAGS } from '../chromium.ts';
import { type Person, startTestHomeport, type TestHomeport, type TestOptions } from '../homeport.ts';
import { isLong } from '../rounds.ts';

export const PASSWORD = 'correct horse battery';

/** The screen of a browser. `touch`: a phone. */
interface Look {
  colorScheme?: 'light' | 'dark';
  width?: number;
  touch?: boolean;
}

/** A running Homeport with its portal and a real browser. */
export interface Portal {
  homeport: TestHomeport;
  /** Opens a browser context without cookies. */
  browser(options?: Look): Promise<Page>;
  /**
   * Opens a browser context that is signed in as this person, without the sign-in page, at this path (`/`). Sets their
   * password to {@link PASSWORD}.
   */
  signedIn(person: Person, options?: Look & { at?: string }): Promise<Page>;
  /** Closes every page. Open pages load each change again and slow down later tests. */
  closePages(): Promise<void>;
  remove(): Promise<void>;
}

let browserOfProcess: Promise<Browser> | undefined;

/** The browser that all test files of this process share. It ends with the process. */
async function sharedBrowser(): Promise<Browser> {
  const running = await browserOfProcess;
  if (running?.isConnected()) return running;
  const env = { HOME: inject('browserHome') };
  browserOfProcess = chromium.launch({ executablePath: CHROMIUM, args: FLAGS, env });
  return browserOfProcess;
}

/** Starts Homeport and a browser. test/browser/built-portal.ts has built the pages into `portalFolder`. */
export async function startPortal(options: TestOptions = {}): Promise<Portal> {
  const homeport = await startTestHomeport({ portalFolder: inject('portalFolder'), ...options });
  const chrome = await sharedBrowser();
  const contexts: BrowserContext[] = [];

  async function closePages(): Promise<void> {
    for (const context of contexts.splice(0)) await context.close();
  }

  async function browser({ colorScheme = 'light', width = 1280, touch = false }: Look = {}): Promise<Page> {
    const context = await chrome.newContext({
      baseURL: homeport.origin,
      // Homeport's certificate is self-signed.
      ignoreHTTPSErrors: true,
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 900 },
      hasTouch: touch,
      isMobile: touch,
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: homeport.origin });
    contexts.push(context);
    const page = await context.newPage();
    // Only matters on failure: a loaded machine may need long for a page.
    page.setDefaultTimeout(30_000);
    return page;
  }

  return {
    homeport,
    browser,
    async signedIn(person, { at = '/', ...look } = {}) {
      await homeport.setPassword(person, PASSWORD);
      const page = await browser(look);
      const answer = await page.request.post('/portal/api/session', {
        data: { email: person.email, password: PASSWORD },
        headers: { origin: homeport.origin },
      });
      expect(answer.status()).toBe(200);
      await page.goto(at);
      // The navigation is behind a button on narrow screens.
      await page.getByRole('banner').waitFor();
      return page;
    },
    closePages,
    async remove() {
      await closePages();
      await homeport.remove();
    },
  };
}

/** Returns the text of the focused element, or its tag name. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement?.textContent || document.activeElement?.tagName');

/** Presses Escape once the focus is in a dialog or a drawer: one that is only just visible does not listen yet. */
export async function pressEscape(page: Page): Promise<void> {
  await page.locator('[role$="dialog"]:focus-within').first().waitFor();
  await page.keyboard.press('Escape');
}

/** Lets the sessions of a person expire. */
export const expireSessions = ({ homeport }: Portal, { userId }: Person) =>
  homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('sessions')
      .set({ expires_at: new Date(0).toISOString() })
      .where('user_id', '=', userId)
      .execute(),
  );

/** Lets the sessions of a person expire while the page sends its next change. Before, its live connection could show the end. */
export async function expireSessionsAtNextChange(page: Page, portal: Portal, person: Person): Promise<void> {
  let hasExpired = false;
  await page.route('**/*', async (route) => {
    if (route.request().method() !== 'GET' && !hasExpired) {
      hasExpired = true;
      await expireSessions(portal, person);
    }
    await route.continue();
  });
}

/**
 * Watches the pages that open next. The result tells whether the element of an expression had the focus in the moment that it appeared,
 * so that the next key reaches it.
 */
export async function focusOnArrival(page: Page, element: string): Promise<() => Promise<boolean>> {
  await page.addInitScript(`globalThis.focusedOnArrival = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      const element = ${element};
      if (!element) return;
      observer.disconnect();
      resolve(document.activeElement === element);
    }).observe(document, { childList: true, subtree: true });
  })`);
  return () => page.evaluate('globalThis.focusedOnArrival');
}

/** The rule of axe that compares the colours of each text and its background. */
export const CONTRAST = 'color-contrast';

/** Half the size of the program that `axe-core` exports. */
const AXE = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8');

const Findings = Type.Array(
  Type.Object({
    id: Type.String(),
    help: Type.String(),
    nodes: Type.Array(Type.Object({ html: Type.String(), failureSummary: Type.Optional(Type.String()) })),
  }),
);

/** As {@link checkAccessibility}, in the long tests only: axe takes 0.4 s of a processor for a page. */
export async function expectAccessibleInLong(page: Page, rules?: readonly string[]): Promise<void> {
  if (isLong) await checkAccessibility(page, rules);
}

/**
 * Checks the page against WCAG 2.2 A and AA and best practices, or only against these `rules` of axe. Fails with each
 * violation and its place. Without {@link CONTRAST} in the quick tests, where it takes half of axe's time.
 */
export async function checkAccessibility(page: Page, rules?: readonly string[]): Promise<void> {
  // A page has no heading until its script has loaded. An open dialog hides the heading from its role.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  // Evaluated by the debugger, because the content security policy allows only the portal's scripts.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const chosen = rules ? { runOnly: rules } : { rules: { [CONTRAST]: { enabled: isLong } } };
  const options = { resultTypes: ['violations'], ...chosen };
  const found: unknown = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then((run) => run.violations)`,
  );
  const violations = Value.Parse(Findings, found).map(({ id, help, nodes }) => ({
    rule: `${id}: ${help}`,
    at: nodes.map(({ html, failureSummary }) => `${html} (${failureSummary ?? ''})`),
  }));
  expect(violations).toEqual([]);
}
