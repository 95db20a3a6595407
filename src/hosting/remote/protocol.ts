import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { CACHE_KINDS } from '../contract/host.ts';
import { INVENTORY_PAGE, LISTED_HOSTNAMES } from '../contract/inventory.ts';
import { MOST_READ_BYTES } from '../contract/snapshots.ts';
import { USAGE_PAGE } from '../contract/usage.ts';
import { MOST_UPDATES } from '../contract/wordpress-updates.ts';
import { MOST_PAGE_PATHS } from '../policy/page-path.ts';
import { backupMove, heldBackups, listedBackups, movedBackups, placesReport } from './backup-messages.ts';
import { itemOrder, itemOutcome } from './change-messages.ts';
import { databaseLink } from './database-messages.ts';
import { installMail, mailQueueReport, mailSelection } from './mail-messages.ts';
import {
  base64,
  closed,
  count,
  cursor,
  daily,
  descriptionSchema,
  hostName,
  importedWebsite,
  importSource,
  install,
  installName,
  login,
  logPage,
  logQuery,
  orNull,
  pagePath,
  parts,
  phpVersion,
  proof,
  question,
  reply,
  restoredSnapshot,
  sentences,
  sha256,
  snapshot,
  state,
  storage,
  text,
  uuid,
  wordpressSource,
  wordpressUser,
  wordpressVersion,
} from './messages.ts';
import { availableUpdate, updateOrder, wantedUpdates } from './update-messages.ts';
import { wordpressMark, wordpressReading, wordpressUnread } from './wordpress-messages.ts';
import { wpCliArguments, wpCliOutcome, wpCliSource, wpCliVersion } from './wp-cli-messages.ts';

/**
 * The protocol between the control plane and a host: HTTP/1.1, `POST /v1/<command>`, JSON both ways. The set of commands is
 * closed. Both ends validate messages against the same schemas.
 *
 * Invalid requests get 400, 404 or 413. Other requests get 200 at once, a line feed every {@link BEAT_MS} during the
 * command, and finally the {@link Outcome}. The line feeds distinguish a busy host from a dead one. Closing the connection
 * cancels the command.
 */
export const PATH_PREFIX = '/v1/';

/**
 * A request with this header gets lines `{"progress":{"done","total"}}` among the line feeds. Hosts of earlier versions ignore it.
 */
export const PROGRESS_HEADER = 'homeport-progress';

/** Interval of the line feeds during a command, in milliseconds. */
export const BEAT_MS = 5_000;
/** Silence after which a host counts as unreachable, in milliseconds. */
export const SILENCE_MS = 20_000;
/** Time that a host holds the request for the next question, in milliseconds. */
export const POLL_MS = 25_000;
/** Time limit for the control plane's answer to a question, in milliseconds. */
export const ANSWER_WITHIN_MS = 5_000;
/** Maximum request body in bytes. Enough for thousands of host names with certificates. */
export const LARGEST_BODY = 64 * 1024 * 1024;
/** Maximum answer in bytes. Enough for all findings of an inspection. */
export const LARGEST_ANSWER = 8 * 1024 * 1024;

/** A command: its name, and the parsers of its arguments and result. */
export interface Command<Taken, Given> {
  name: string;
  /** Checks the arguments. Throws {@link ProtocolError}, which names the fault. */
  parseArguments(body: unknown): Taken;
  /** Checks the result in the same way. */
  parseResult(result: unknown): Given;
}

/** A message that violates the protocol. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
}

function command<Taken extends TSchema, Given extends TSchema>(
  name: string,
  taken: Taken,
  given: Given,
): Command<Static<Taken>, Static<Given>> {
  return {
    name,
    parseArguments: (body) => parse(taken, body, `the arguments of ${name}`),
    parseResult: (result) => parse(given, result, `the result of ${name}`),
  };
}

/** The error does not repeat values, because some are private keys. */
function parse<Schema extends TSchema>(schema: Schema, value: unknown, what: string): Static<Schema> {
  if (Value.Check(schema, value)) return value;
  const [first] = Value.Errors(schema, value);
  throw new ProtocolError(
    `${what}: ${first === undefined ? 'wrong' : `${first.instancePath || '/'} ${first.message}`}`,
  );
}

const none = Type.Object({}, closed);
const nothing = Type.Null();

export const COMMANDS = {
  describe: command('describe', none, descriptionSchema),
  apply: command(
    'apply',
    Type.Object({ state }, closed),
    Type.Object({
      phpVersion: orNull(phpVersion),
      wordpressVersion: orNull(wordpressVersion),
      stableIps: orNull(Type.Array(text(45), { maxItems: 16 })),
      hasFormerUrls: Type.Optional(Type.Boolean()),
    }),
  ),
  remove: command(
    'remove',
    // Left out if false, so that hosts of earlier versions accept the command.
    Type.Object({ install, keepBackups: Type.Optional(Type.Boolean()) }, closed),
    nothing,
  ),
  retire: command('retire', Type.Object({ install }, closed), nothing),
  removeBackups: command('remove_backups', Type.Object({ install }, closed), nothing),
  purge: command('purge', Type.Object({ install, cache: Type.Enum([...CACHE_KINDS]) }, closed), nothing),
  purgePages: command(
    'purge_pages',
    Type.Object({ install, paths: Type.Array(pagePath, { maxItems: MOST_PAGE_PATHS }) }, closed),
    nothing,
  ),
  restartPhp: command('restart_php', Type.Object({ install }, closed), nothing),
  replaceUrls: command('replace_urls', Type.Object({ install }, closed), nothing),
  snapshot: command('snapshot', Type.Object({ install, backupId: uuid }, closed), snapshot),
  restore: command(
    'restore',
    Type.Object(
      {
        ...{ install, backupId: uuid, from: orNull(install), parts: Type.Optional(parts) },
        wordpressVersion: Type.Optional(wordpressVersion),
      },
      closed,
    ),
    restoredSnapshot,
  ),
  discardSnapshot: command('discard_snapshot', Type.Object({ install, backupId: uuid }, closed), nothing),
  heldBackups: command('held_backups', Type.Object({ install }, closed), heldBackups),
  backupPlaces: command('backup_places', none, placesReport),
  moveBackups: command('move_backups', backupMove, movedBackups),
  acceptBackupPlace: command('accept_backup_place', none, placesReport),
  forgetFormerBackups: command(
    'forget_former_backups',
    Type.Object({ listed: listedBackups }, closed),
    count,
  ),
  pack: command(
    'pack',
    Type.Object({ install, backupId: uuid, archiveId: uuid }, closed),
    Type.Object({ bytes: count, sha256 }),
  ),
  readPacked: command(
    'read_packed',
    Type.Object(
      {
        install,
        archiveId: uuid,
        offset: count,
        length: Type.Integer({ minimum: 1, maximum: MOST_READ_BYTES }),
      },
      closed,
    ),
    base64,
  ),
  discardPacked: command('discard_packed', Type.Object({ install, archiveId: uuid }, closed), nothing),
  measureStorage: command('measure_storage', Type.Object({ install }, closed), storage),
  createDatabaseLink: command('create_database_link', Type.Object({ install }, closed), databaseLink),
  createLogin: command('create_login', Type.Object({ install, user: orNull(wordpressUser) }, closed), login),
  readWordPress: command(
    'read_wordpress',
    Type.Object({ install, check: Type.Boolean() }, closed),
    Type.Union([wordpressReading, wordpressUnread]),
  ),
  wordpressMarks: command(
    'wordpress_marks',
    Type.Object({ after: orNull(uuid) }, closed),
    Type.Array(Type.Object({ installId: uuid, mark: wordpressMark }), { maxItems: INVENTORY_PAGE }),
  ),
  planUpdates: command(
    'plan_updates',
    Type.Object({ install, wanted: wantedUpdates }, closed),
    Type.Object({
      updates: Type.Array(availableUpdate, { maxItems: MOST_UPDATES + 1 }),
      refused: Type.Array(sentences, { maxItems: MOST_UPDATES }),
    }),
  ),
  updateWordpress: command(
    'update_wordpress',
    Type.Object({ install, order: updateOrder }, closed),
    Type.Object({
      made: Type.Array(availableUpdate, { maxItems: MOST_UPDATES + 1 }),
      // Hosts of earlier versions leave them out.
      skipped: Type.Optional(
        Type.Array(Type.Object({ update: availableUpdate, reason: sentences }), {
          maxItems: MOST_UPDATES + 1,
        }),
      ),
      restored: Type.Optional(Type.Boolean()),
      rolledBack: orNull(
        Type.Object({
          update: orNull(availableUpdate),
          reason: sentences,
          mayKeep: Type.Optional(Type.Boolean()),
        }),
      ),
      warning: Type.Optional(sentences),
      wordpressVersion,
    }),
  ),
  changeItem: command('change_item', Type.Object({ install, order: itemOrder }, closed), itemOutcome),
  readLog: command('read_log', Type.Object({ install, query: logQuery }, closed), logPage),
  importWebsite: command(
    'import_website',
    Type.Object({ install, source: importSource, importId: orNull(uuid) }, closed),
    importedWebsite,
  ),
  lastImport: command('last_import', Type.Object({ install }, closed), orNull(uuid)),
  readUsage: command(
    'read_usage',
    Type.Object({ since: orNull(Type.Object(cursor, closed)) }, closed),
    Type.Object({
      ...cursor,
      days: Type.Array(
        Type.Object({
          installId: uuid,
          day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
          requests: daily,
          bytes: daily,
          visits: daily,
          // Hosts of earlier versions leave it out.
          pages: Type.Optional(Type.Object({ requests: daily, hits: daily, milliseconds: daily })),
        }),
        { maxItems: USAGE_PAGE },
      ),
      more: Type.Boolean(),
    }),
  ),
  readMail: command('read_mail', Type.Object({ install }, closed), installMail),
  mailQueue: command('mail_queue', mailSelection, mailQueueReport),
  retryMail: command('retry_mail', mailSelection, count),
  deleteMail: command('delete_mail', mailSelection, count),
  publish: command(
    'publish',
    Type.Object({ ...proof, text: Type.String({ maxLength: 4096 }) }, closed),
    nothing,
  ),
  withdraw: command('withdraw', Type.Object(proof, closed), nothing),
  inspect: command(
    'inspect',
    Type.Object({ expected: Type.Array(install), repair: Type.Boolean() }, closed),
    Type.Array(
      Type.Object({
        thing: sentences,
        message: sentences,
        mended: orNull(Type.Boolean()),
        remedy: orNull(sentences),
        backupOf: Type.Optional(uuid),
      }),
      { maxItems: 20_000 },
    ),
  ),
  heldInstalls: command(
    'held_installs',
    Type.Object({ after: orNull(uuid) }, closed),
    Type.Object({
      platform: orNull(uuid),
      installs: Type.Array(
        Type.Object({
          id: uuid,
          name: orNull(installName),
          hostnames: Type.Array(hostName, { maxItems: LISTED_HOSTNAMES }),
          digest: orNull(sha256),
          lost: Type.Optional(Type.Array(sentences, { maxItems: 10 })),
        }),
        { maxItems: INVENTORY_PAGE },
      ),
    }),
  ),
  belongTo: command('belong_to', Type.Object({ platform: uuid }, closed), nothing),
  setAside: command(
    'set_aside',
    Type.Object({ platform: uuid, installs: Type.Array(uuid, { maxItems: INVENTORY_PAGE }) }, closed),
    Type.Array(uuid, { maxItems: INVENTORY_PAGE }),
  ),
  addWordpress: command(
    'add_wordpress',
    Type.Object({ source: orNull(wordpressSource) }, closed),
    wordpressVersion,
  ),
  addReleases: command(
    'add_releases',
    none,
    Type.Object({
      added: Type.Array(wordpressVersion, { maxItems: 200 }),
      failures: Type.Array(sentences, { maxItems: 200 }),
    }),
  ),
  runWpCli: command('run_wp_cli', Type.Object({ install, args: wpCliArguments }, closed), wpCliOutcome),
  addWpCli: command('add_wp_cli', Type.Object({ source: orNull(wpCliSource) }, closed), wpCliVersion),
  nextQuestion: command('next_question', none, orNull(question)),
  answer: command('answer', Type.Object({ id: uuid, reply }, closed), nothing),
};

/**
 * `permanent` failures do not succeed on a retry. `broken`: a {@link BrokenWebsiteError}; hosts of earlier versions omit it. `refused`: a
 * {@link RefusedImportError}. `unchanged`: a restore has replaced nothing; hosts of earlier versions omit it.
 * `shown`: that of a {@link RefusedRestoreError}, if it differs. `lost`: its `isLost`.
 */
export type Failure = Static<typeof failure>;

/** Outcome of a command. */
export type Outcome = { result: unknown } | { error: Failure };

const failure = Type.Object({
  permanent: Type.Boolean(),
  message: sentences,
  broken: Type.Optional(Type.Boolean()),
  refused: Type.Optional(Type.Boolean()),
  unchanged: Type.Optional(Type.Boolean()),
  shown: Type.Optional(sentences),
  lost: Type.Optional(Type.Boolean()),
});

const outcome = Type.Union([Type.Object({ result: Type.Unknown() }), Type.Object({ error: failure })]);

/** Parses an outcome. Throws {@link ProtocolError} for other texts. */
export function parseOutcome(body: string): Outcome {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new ProtocolError('the answer is not JSON', { cause });
  }
  return parse(outcome, value, 'the answer');
}

const progress = Type.Object({
  progress: Type.Object({ done: count, total: orNull(count), step: Type.Optional(text(40)) }),
});

/** Writes a line of progress. */
export function progressLine(done: number, total: number | null, step?: string): string {
  return `${JSON.stringify({ progress: { done, total, step } })}\n`;
}

/** Parses a line of progress. Throws {@link ProtocolError} for other texts. */
export function parseProgress(line: string): Static<typeof progress>['progress'] {
  try {
    return parse(progress, JSON.parse(line), 'the progress').progress;
  } catch (cause) {
    throw new ProtocolError('a line of the answer is no progress', { cause });
  }
}
