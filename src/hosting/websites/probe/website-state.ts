import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { Clock } from '../../../lib/clock.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';
import type { WebsiteScripts } from './website-scripts.ts';

const SCRIPT = 'website-state.php';
const WITHIN_MS = 20 * SECOND_MS;
/** Longer than a probe takes. */
const SESSION_SECONDS = 5 * 60;
const TOKEN_BYTES = 32;
/** Header that the host sends to ask for pages as an administrator; see probe.php. */
const PROBE_HEADER = 'x-homeport-probe';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = Type.String({ maxLength: 300 });
const postId = orNull(Type.Integer({ minimum: 1 }));

export const websiteStateSchema = Type.Object({
  siteurl: text,
  home: text,
  template: text,
  stylesheet: text,
  /** Files of the active plugins. */
  plugins: Type.Array(text, { maxItems: 1_000 }),
  hasPermalinks: Type.Boolean(),
  /** Ids of the newest public post and page. */
  post: postId,
  page: postId,
  /** File of the newest upload, relative to the folder of uploads. */
  upload: orNull(text),
  hasAdministrator: Type.Boolean(),
  /** Why a row could not be written; null if it was. */
  unwritable: orNull(text),
  /** Numbers of rows by their name: `pages`, `users`. */
  rows: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
});

/** Settings and content of a website that a change should keep. */
export type WebsiteState = Static<typeof websiteStateSchema>;

/** The state as it was read; null with the reason, if it is known, if WordPress does not start. */
export type ReadState = { state: WebsiteState } | { state: null; failure: string | null };

/** Access to pages of a website as a visitor or as its oldest administrator, which no plugin records. */
export interface ProbeSession {
  /** Headers for a page of each kind. */
  headers: { visitor: Record<string, string>; administrator: Record<string, string> };
  opened: ReadState;
  /** Time of the script that opened the session, which shows how busy the machine is. */
  milliseconds: number;
  /** Ends the access, and reads the state again. */
  close(): Promise<ReadState>;
}

export interface ProbeSessions extends WebsiteScripts {
  /** Name of the database as WordPress knows it. */
  database: string;
  clock: Clock;
  random: Randomness;
}

/** Opens a session for a few minutes. The database keeps a hash, so a leaked database opens nothing. */
export async function openSession(site: ProbeSessions): Promise<ProbeSession> {
  const token = site.random.bytes(TOKEN_BYTES).toString('base64url');
  const option = `homeport_probe_${createHash('sha256').update(`${site.database} ${token}`).digest('hex')}`;
  const expires = Math.floor(site.clock.now().getTime() / SECOND_MS) + SESSION_SECONDS;
  async function read(...args: string[]): Promise<ReadState> {
    const ran = await site.runScript(SCRIPT, args, { timeoutMs: WITHIN_MS });
    if (!('output' in ran)) return { state: null, failure: 'fatal' in ran ? ran.fatal : ran.failed };
    const state = parsePrinted(websiteStateSchema, ran.output);
    return state === null ? { state, failure: null } : { state };
  }
  const began = performance.now();
  const opened = await read('open', option, String(expires));
  const milliseconds = Math.round(performance.now() - began);
  return {
    headers: {
      visitor: { [PROBE_HEADER]: `${token} visitor` },
      administrator: { [PROBE_HEADER]: `${token} administrator` },
    },
    opened,
    milliseconds,
    close: () => read('close', option),
  };
}
