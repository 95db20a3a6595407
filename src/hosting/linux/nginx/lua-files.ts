import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceAtomically } from '../../../lib/durable-file.ts';
import type { NEXT_ATTEMPT } from '../../policy/login-limits.ts';

const SOURCES = join(import.meta.dirname, 'lua');

/** Settings that Lua reads: `require "settings"`. Folders end with `/`. */
export interface LuaSettings {
  /** Links from host names to rows. */
  names: string;
  certificates: string;
  /** Edges of other hosts, and links from host names to routes. */
  edges: string;
  routes: string;
  /** PEM file with nginx's own certificate and its key. */
  ownCertificate: string;
  /** Parsed rows and certificates that all workers keep together. */
  mostRows: number;
  mostCertificates: number;
  /** Names without a website that each worker remembers. */
  mostUnknownNames: number;
  /** Query parameters that the page cache leaves out of its keys, and the prefix of others. */
  campaignParameters: string[];
  campaignPrefix: string;
  /** Segments of paths, and the beginning of a query parameter, of answers that may be individual. */
  personalSegments: string[];
  personalParameter: string;
  /** Rounds of new hashes of visitors' passwords, and the most of any. */
  passwordRounds: number;
  mostPasswordRounds: number;
  /** Whether pages have a variant for Brotli. */
  brotli: boolean;
  /** The largest body of a request to an install without its own limit. */
  bodyBytes: number;
  /** Locations of PHP and their largest bodies, in rising order. */
  bodyLimits: { location: string; bytes: number }[];
  /** Requests that wait: for one page, at an install, and from an address block there. */
  mostWaiters: { page: number; install: number; address: number };
  /** Requests with a query that PHP answers for one address block at one install in ten seconds. */
  mostQueries: number;
  mostPurgedPaths: number;
  /** The log of requests, and its size from which on no further request is logged. */
  usageLog: string;
  mostUsageBytes: number;
  /** Seconds until another attempt to log in is accepted, by kind. */
  nextAttempt: typeof NEXT_ATTEMPT;
}

/** The edge's Lua in a folder that is named after its content, so that nginx reads it again only if it has changed. */
export interface LuaFiles {
  folder: string;
  /** Names of the modules, for `require`. */
  modules: string[];
}

/** Copies the modules, with the settings, into a folder below `parent`. Only root can write there. */
export async function installLua(parent: string, settings: LuaSettings): Promise<LuaFiles> {
  const files = new Map<string, string>([['settings.lua', renderSettings(settings)]]);
  for (const name of (await readdir(SOURCES)).filter((one) => one.endsWith('.lua')).toSorted()) {
    files.set(name, await readFile(join(SOURCES, name), 'utf8'));
  }
  const folder = join(parent, hash('sha256', JSON.stringify([...files]), 'hex').slice(0, 16));
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const [name, content] of files) {
    // Also if it exists: a crash may have left it unfinished.
    await replaceAtomically(join(folder, name), content, { mode: 0o644, sync: false });
  }
  return { folder, modules: [...files.keys()].map((name) => name.replace(/\.lua$/, '')) };
}

/** Removes the Lua of earlier configurations. */
export async function pruneLua(parent: string, { folder }: LuaFiles): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    if (path !== folder) await rm(path, { recursive: true, force: true });
  }
}

/** As JSON in a long bracket. `]=` occurs only within JSON's strings, where an escape cannot close the bracket. */
function renderSettings(settings: LuaSettings): string {
  const json = JSON.stringify(settings).replaceAll(']=', ']\\u003d');
  return `return require("cjson").decode([==[${json}]==])\n`;
}
