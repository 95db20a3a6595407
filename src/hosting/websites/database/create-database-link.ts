import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { Clock } from '../../../lib/clock.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { DatabaseLink, DatabaseLinkRefused } from '../../contract/database-access.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';

const VALID_SECONDS = 60;
const TOKEN_BYTES = 32;
const WITHIN_MS = 20 * SECOND_MS;
const MOST_OUTPUT = 64 * 1024;
/** Folder of links and sessions, in the folder of uploads. database-sessions.php knows it, too. */
const SESSIONS = 'homeport-database';

/** The database of a website, and the program that shows it. Paths are those that the website's PHP sees. */
export interface OpenableDatabase {
  installId: string;
  runtime: Programs;
  /** Folder in which PHP keeps uploads. No backup has it. */
  uploads: string;
  program: { name: string; file: string };
  /** Facts about the database for the program. No secrets: the website's code can read them. */
  content: Readonly<Record<string, string>>;
}

export interface DatabaseLinksOptions {
  clock: Clock;
  randomness: Randomness;
  log: Logger;
}

const Printed = Type.Object({
  link: Type.Enum(['kept', 'no program', 'no folder', 'not written']),
});

/** Creates links to databases (docs/decisions/database-access.md). The website keeps a hash of the token. */
export function createDatabaseLinks({ clock, randomness, log }: DatabaseLinksOptions) {
  return async (database: OpenableDatabase): Promise<DatabaseLink | DatabaseLinkRefused> => {
    const { installId, runtime, uploads, program, content } = database;
    const expires = Math.floor(clock.now().getTime() / SECOND_MS) + VALID_SECONDS;
    const token = `${expires}.${randomness.bytes(TOKEN_BYTES).toString('base64url')}`;
    const { stdout, stderr, exit } = await runtime.runScript({
      script: 'keep-database-link.php',
      input: JSON.stringify({
        folder: `${uploads}/${SESSIONS}`,
        program: program.file,
        name: `link-${expires}-${hash('sha256', token, 'hex')}`,
        content: JSON.stringify(content),
      }),
      timeoutMs: WITHIN_MS,
      mostOutput: MOST_OUTPUT,
      network: false,
    });
    const link = exit === 0 ? parsePrinted(Printed, stdout)?.link : undefined;
    if (link === 'kept') return { token, expiresAt: new Date(expires * SECOND_MS).toISOString() };
    if (link === 'no program') return missing(program.name);
    if (link === 'no folder') return NO_FOLDER;
    if (link === 'not written') return NOT_WRITTEN;
    log.warn({ install: installId, exit, stderr }, 'PHP kept no link to the database');
    return NOT_RUNNING;
  };
}

const missing = (name: string): DatabaseLinkRefused => ({
  refused: 'missing',
  reason: `This host has no ${name}, which shows databases. Ask your hosting company to install it.`,
});

/** PHP of the website does not answer. */
export const NOT_RUNNING: DatabaseLinkRefused = {
  refused: 'website',
  reason: 'PHP of this website is not running. Try again in a minute, then tell your hosting company.',
};

const NO_FOLDER: DatabaseLinkRefused = {
  refused: 'website',
  reason: `Something else is in place of the folder tmp/${SESSIONS} of this website. Delete it by SFTP.`,
};

const NOT_WRITTEN: DatabaseLinkRefused = {
  refused: 'website',
  reason: `The website cannot write into its folder tmp/${SESSIONS}, for example because its disk space is used up. Delete files by SFTP, then try again.`,
};
