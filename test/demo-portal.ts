import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { type Caller, operatorFor } from '../src/access/caller.ts';
import { fillDemo } from '../src/app/demo.ts';
import { ensureOwner } from '../src/app/first-start.ts';
import { type RunningHomeport, startHomeport } from '../src/app/homeport.ts';
import { readConfig } from '../src/config/config.ts';
import { buildWhenMissing } from '../web/build.ts';
import { CHROMIUM, FLAGS } from './chromium.ts';
import { freePort } from './servers/free-port.ts';

const PASSWORD = 'a password for the demo';

/** A temporary Homeport with demo content, and a browser in which its owner can sign in. */
export interface DemoPortal {
  homeport: RunningHomeport;
  origin: string;
  owner: Caller;
  accountId: string;
  /** Opens a browser context that is signed in as the owner. */
  signIn(look?: BrowserContextOptions): Promise<BrowserContext>;
  stop(): Promise<void>;
}

/**
 * Starts it with the pages in `web/dist`, which it builds if they are missing or older than their sources. `settings` replace its own,
 * for example those of the host.
 */
export async function startDemoPortal(settings: Record<string, string> = {}): Promise<DemoPortal> {
  await buildWhenMissing(join(import.meta.dirname, '../web/dist'));
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-demo-'));
  const port = await freePort();
  const config = readConfig({
    HOMEPORT_DATA_DIR: dataDir,
    HOMEPORT_LISTEN: `127.0.0.1:${port}`,
    HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
    HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
    HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
    HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
    HOMEPORT_SITE_DOMAIN: 'sites.example',
    HOMEPORT_RATE_LIMIT: '0',
    ...settings,
  });
  const homeport = await startHomeport(
    config,
    { log: pino({ level: 'silent' }) },
    { api: true, hosting: true },
  );
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const stop = async () => {
    await browser.close();
    await homeport.stop();
    rmSync(dataDir, { recursive: true });
  };
  try {
    const { platform, services } = homeport;
    const made = await ensureOwner(platform, services);
    if (!made) throw new Error('the database was not empty');
    await fillDemo(platform, services);
    await homeport.idle();
    const owner = operatorFor(made.userId);
    const link = await services.passwords.createLink(made.userId, 'first');
    const request = { device: null, address: '127.0.0.1', requestId: 'demo' };
    const token = link.slice(link.lastIndexOf('/') + 1);
    await services.passwords.setByLink(token, { password: PASSWORD }, request);
    const { email } = await services.accountUsers.get(owner, made.accountId, made.userId);

    return {
      homeport,
      origin: config.publicUrl,
      owner,
      accountId: made.accountId,
      async signIn(look = {}) {
        const context = await browser.newContext({
          baseURL: config.publicUrl,
          // Homeport's certificate is self-signed.
          ignoreHTTPSErrors: true,
          ...look,
        });
        const answer = await context.request.post('/portal/api/session', {
          data: { email, password: PASSWORD },
          headers: { origin: config.publicUrl },
        });
        if (!answer.ok()) throw new Error(`signing in failed with status ${answer.status()}`);
        return context;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
