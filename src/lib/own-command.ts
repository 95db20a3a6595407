import { realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { codeOf } from './error-code.ts';
import { IS_RELEASE } from './program-version.ts';

const NAME = 'homeport';
/** The user that runs the control plane on a machine that set-up has prepared. People run its commands with sudo. */
export const CONTROL_PLANE_USER = 'homeport';
/** The settings of this machine, which "homeport host setup" writes. */
export const SETTINGS_FILE = '/etc/homeport/homeport.conf';
/** Where the Debian package installs the program. */
export const PROGRAM_FOLDER = '/usr/lib/homeport';
/** Names of the launchers in the folder of the program: of a release, and of the sources. */
const LAUNCHERS = ['homeport', 'bin/homeport.mjs'];
/** A command in a text: in quotes, at the start of a line, after its settings, or after the word that leads to it. */
const COMMAND = /(?<=^[ \t]*|["'`]|[:;] |\bsee |=\S* )homeport(?= (?:--)?[a-z])/gm;
const PLAIN_WORD = /^[\w./@:+-]+$/;

interface Installation {
  /** The folder of the program. */
  root: string;
  isRelease: boolean;
  /** HOMEPORT_COMMAND, for example of a container. It takes precedence. */
  named: string | undefined;
  /** PATH. */
  path: string | undefined;
  /** The folder in which commands are typed. */
  folder: string;
  /** Arguments of this process. The file of `--config` belongs to every command. */
  words: readonly string[];
  /** The name of the user of this process; null if it has none. */
  user: string | null;
}

/**
 * The words that run this program here: `homeport` if `PATH` has it, `npx homeport` in the folder of a clone, else a path. With sudo for the
 * user of the services, as which nobody signs in.
 */
export function commandOf({ named, words, user, ...installation }: Installation): string {
  if (named !== undefined && named.trim() !== '') return named.trim();
  const given = settingsFileIn(words);
  const program = programOf(installation);
  if (given === undefined) return program;
  const file = resolve(given);
  const command = `${program} --config ${quoted(file)}`;
  const isOfService = user === CONTROL_PLANE_USER && file === SETTINGS_FILE;
  return isOfService ? `sudo -u ${CONTROL_PLANE_USER} ${command}` : command;
}

/** The file of `--config FILE` or `--config=FILE`. Words after `--` belong to another program. */
function settingsFileIn(words: readonly string[]): string | undefined {
  const end = words.indexOf('--');
  const own = end === -1 ? words : words.slice(0, end);
  const at = own.findLastIndex((word) => /^--config(=|$)/.test(word));
  return own[at] === '--config' ? own[at + 1] : own[at]?.slice('--config='.length);
}

function programOf({
  root,
  isRelease,
  path,
  folder,
}: Omit<Installation, 'named' | 'words' | 'user'>): string {
  const own = LAUNCHERS.map((launcher) => resolved(join(root, launcher)));
  const first = (path ?? '')
    .split(delimiter)
    .map((one) => (one === '' ? null : resolved(join(one, NAME))))
    .find((found) => found !== null);
  if (first !== undefined && own.includes(first)) return NAME;
  if (!isRelease && resolved(folder) === resolved(root)) return `npx ${NAME}`;
  return quoted(join(root, isRelease ? NAME : 'bin/homeport.mjs'));
}

/** Null for a path that leads nowhere or cannot be followed. It may be on the file system of a server that is gone. */
function resolved(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return null;
  }
}

const quoted = (path: string) => (PLAIN_WORD.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

const here = () => ({
  root: join(import.meta.dirname, '../..'),
  isRelease: IS_RELEASE,
  path: process.env.PATH,
});

/** The word or the path that runs this program from every folder, without settings. */
export const ownProgram = (): string => programOf({ ...here(), folder: '/' });

function ownUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    // A number without an entry in passwd, as in a container.
    return null;
  }
}

let ownCommand: string | undefined;

/**
 * A text for people with commands that work here. Sources and documents write `homeport WORDS`, in quotes or at the start of a line; what
 * shows them passes through here.
 */
export function withOwnCommand(text: string): string {
  ownCommand ??= commandOf({
    ...here(),
    named: process.env.HOMEPORT_COMMAND,
    folder: process.cwd(),
    words: process.argv.slice(2),
    user: ownUser(),
  });
  return withCommand(text, ownCommand);
}

/** A text with `command` in place of `homeport` where it is a command. */
export function withCommand(text: string, command: string): string {
  return command === NAME ? text : text.replace(COMMAND, () => command);
}
