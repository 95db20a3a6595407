import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPortal, isCurrent } from '../../web/build.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the built portal; empty if no test needs it. */
    portalFolder: string;
    /** Home of the browsers; empty if no test needs it. */
    browserHome: string;
  }
}

const BUILT = join(import.meta.dirname, '../../web/dist');

/** Provides the portal for all browser tests: the output of `npm run build` if it is current, or a build apart from it. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const made = mkdtempSync(join(tmpdir(), 'homeport-portal-'));
  const isBuilt = isCurrent(BUILT);
  if (!isBuilt) await buildPortal(made);
  provide('portalFolder', isBuilt ? BUILT : made);
  const home = mkdtempSync(join(tmpdir(), 'homeport-browser-'));
  provide('browserHome', home);
  return () => {
    for (const folder of [made, home]) rmSync(folder, { recursive: true, force: true });
  };
}
