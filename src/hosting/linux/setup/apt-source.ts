import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { Apt } from './apt.ts';

/** A package source that the operator names, with the key that signs its lists. */
export interface NamedSource {
  /** A line like `deb https://packages.sury.org/php/ bookworm main`, without options in brackets. */
  line: string;
  /** File with the public key, as OpenPGP writes it, armoured or not. */
  keyFile: string;
}

/** apt's folder of settings; tests use their own. */
const APT_FOLDER = '/etc/apt';
const NAME = 'homeport-php';
const MOST_KEY_BYTES = 1024 * 1024;
const ARMOUR = '-----BEGIN PGP PUBLIC KEY BLOCK-----';
/** First bytes of a public key in OpenPGP's old and new packet formats (RFC 9580, section 4.2). */
const KEY_PACKETS = [0x98, 0x99, 0x9a, 0xc6];

/**
 * Adds the source for PHP that the operator named, or replaces the former one, and fetches its list. apt trusts the key for this source
 * only. If the list cannot be fetched or its signature is wrong, everything is as before. False if nothing changed. Throws
 * OperatorError.
 */
export async function provideSource(
  { line, keyFile }: NamedSource,
  apt: Pick<Apt, 'updateFrom'>,
  folder = APT_FOLDER,
): Promise<boolean> {
  const { uri, suite, components } = parseLine(line);
  const key = await readKey(keyFile);
  const paths = pathsIn(folder);
  const keyPath = isArmoured(key) ? paths.armouredKey : paths.binaryKey;
  const text = [
    '# Written by "homeport host php add --source".',
    'Types: deb',
    `URIs: ${uri}`,
    `Suites: ${suite}`,
    ...(components === '' ? [] : [`Components: ${components}`]),
    `Signed-By: ${keyPath}`,
    '',
  ].join('\n');
  const former = await Promise.all(
    Object.values(paths).map(async (path) => ({ path, content: await ifThere(readFile(path)) })),
  );
  const held = (path: string) => former.find((file) => file.path === path)?.content ?? null;
  if (held(keyPath)?.equals(key) && held(paths.source)?.toString() === text) return false;
  await mkdir(join(folder, 'keyrings'), { recursive: true, mode: 0o755 });
  await mkdir(join(folder, 'sources.list.d'), { recursive: true, mode: 0o755 });
  await put(keyPath, key);
  await put(paths.source, text);
  try {
    await apt.updateFrom(paths.source);
  } catch (error) {
    for (const { path, content } of former) {
      if (content === null) await rm(path, { force: true });
      else await put(path, content);
    }
    throw new OperatorError(`The source was not added, because apt cannot use it: ${messageOf(error)}`, {
      cause: error,
    });
  }
  for (const path of [paths.armouredKey, paths.binaryKey]) {
    if (path !== keyPath) await rm(path, { force: true });
  }
  return true;
}

/** apt reads the key as a user without privileges. */
async function put(path: string, content: Buffer | string): Promise<void> {
  await writeFile(path, content);
  await chmod(path, 0o644);
}

function pathsIn(folder: string) {
  return {
    source: join(folder, 'sources.list.d', `${NAME}.sources`),
    armouredKey: join(folder, 'keyrings', `${NAME}.asc`),
    binaryKey: join(folder, 'keyrings', `${NAME}.gpg`),
  };
}

/** apt's form for one line (sources.list(5)). Everything else could turn off the check of signatures. */
function parseLine(line: string): { uri: string; suite: string; components: string } {
  const match = /^deb\s+(https?:\/\/[\w.:~%/-]+)\s+([\w./~-]+)((?:\s+[\w./-]+)*)$/.exec(line.trim());
  const [, uri, suite, components = ''] = match ?? [];
  if (uri === undefined || suite === undefined || (components.trim() === '') !== suite.endsWith('/')) {
    throw new OperatorError(
      '--source takes a line of apt without options in brackets: "deb https://packages.example.com/php/ bookworm main"',
    );
  }
  return { uri, suite, components: components.trim().replace(/\s+/g, ' ') };
}

async function readKey(file: string): Promise<Buffer> {
  const key = await readFile(file).catch((cause: unknown) => {
    throw new OperatorError(`The key cannot be read: ${messageOf(cause)}`, { cause });
  });
  const isKey = isArmoured(key) || KEY_PACKETS.includes(key[0] ?? 0);
  if (isKey && key.length <= MOST_KEY_BYTES) return key;
  throw new OperatorError(`${file} is not a public OpenPGP key. Use the key that the source publishes.`);
}

function isArmoured(key: Buffer): boolean {
  return key.subarray(0, ARMOUR.length).toString('latin1') === ARMOUR;
}
