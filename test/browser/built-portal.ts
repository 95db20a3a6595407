import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPortal } from '../../web/build.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the built portal; empty if no test needs it. */
    portalFolder: string;
    /** Home of the browsers; empty if no test needs it. */
    browserHome: string;
  }
}

/** Builds the portal once for all browser tests, apart from the output of `npm run build`. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-portal-'));
  await buildPortal(folder);
  provide('portalFolder', folder);
  const home = mkdtempSync(join(tmpdir(), 'homeport-browser-'));
  provide('browserHome', home);
  return () => {
    for (const made of [folder, home]) rmSync(made, { recursive: true, force: true });
  };
}
