import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Host } from '../../contract/host.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { CustomerFiles } from './plugin-source.fixture.ts';

/** A served website of a host with real WordPress and the plugin of `putPlugin`, for the cases that both hosts must pass. */
export interface ChangedWebsite {
  host: Pick<Host, 'changeItem' | 'planUpdates' | 'updateWordpress' | 'snapshot'>;
  install: InstallRef & { wordpressVersion: string };
  files: CustomerFiles;
  /** Folder of a WordPress of the host. */
  coreOf(version: string): string;
  /** The record of the updates of the website. */
  updateJournal: string;
  /** Activates these plugins alone, without any code of theirs. */
  activate(files: readonly string[]): Promise<void>;
  page(path: string): Promise<{ status: number; body: string }>;
  /** An option of WordPress; empty without one. */
  option(name: string): Promise<string>;
  /** The content of a file below `wp-content`; null without one. */
  read(path: string): Promise<string | null>;
}

/** The home page, which no cache has. */
export const homePage = ({ page }: Pick<ChangedWebsite, 'page'>) => page(`/?${randomUUID()}`);

/** The website with version 1.0 of the plugin alone, whole. */
export async function expectFormer(website: ChangedWebsite, plugin: string): Promise<void> {
  const { status, body } = await homePage(website);
  expect([status, body.includes('<p>shop 1.0</p>'), body.includes('</html>')]).toEqual([200, true, true]);
  const active = [...(await website.option('active_plugins')).matchAll(/"([^"]+)"/g)];
  expect(active.map(([, file]) => file)).toEqual([plugin]);
}

/** A backup of the website as it is. */
export async function checkpointOf({ host, install }: ChangedWebsite): Promise<string> {
  const id = randomUUID();
  await host.snapshot(install, id);
  return id;
}
