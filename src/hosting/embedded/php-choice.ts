import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { writeDurably } from '../../lib/durable-file.ts';
import { messageOf } from '../../lib/error-message.ts';
import { ifThere } from '../../lib/if-there.ts';
import { type OtherPhp, type PhpEngine, PhpLostError } from '../runtime/wasm/php-engine.ts';

/** `HOMEPORT_EMBEDDED_PHP`. */
export type PhpSetting = 'auto' | 'machine' | 'wasm';

const keptSchema = Type.Object({
  engine: Type.Union([Type.Literal('machine'), Type.Literal('wasm')]),
  /** Of the machine's PHP, `major.minor`; null for WebAssembly. */
  version: Type.Union([Type.String(), Type.Null()]),
  /** The version that the database names for the websites. */
  reported: Type.Optional(Type.String()),
});
const kept = Compile(keptSchema);

/** The PHP that websites ran on last. */
export type KeptPhp = Static<typeof keptSchema>;

interface PhpChoiceOptions {
  setting: PhpSetting;
  /** Keeps the choice, in the folder of the host. */
  file: string;
  /** Whether the host has websites with WordPress. */
  hasWordPress(): Promise<boolean>;
  log: Logger;
}

/** Why `auto` does not try the machine's PHP, as a clause. */
export const BEGAN_IN_WASM =
  'the websites of this host began in WebAssembly. HOMEPORT_EMBEDDED_PHP=machine moves them to PHP-FPM';
const WANTS_WASM = 'HOMEPORT_EMBEDDED_PHP=wasm is set';

/**
 * The machine's PHP as the setting wants it. With `auto`, a host without websites takes the machine's PHP if it can, else WebAssembly, and keeps
 * that choice once it has websites: they must not change their version of PHP because a package was installed or Homeport was updated. The
 * version of the machine's PHP is kept as long as it is installed. Websites whose PHP is lost run in WebAssembly until it is back.
 */
export function phpAsChosen(
  machine: OtherPhp,
  { setting, file, hasWordPress, log }: PhpChoiceOptions,
): OtherPhp {
  async function keep(last: KeptPhp | null, next: KeptPhp): Promise<void> {
    if (last?.engine !== next.engine || last.version !== next.version) {
      await writeDurably(file, JSON.stringify({ ...last, ...next }));
    }
  }

  // A website may be created before PHP is used.
  const had = hasWordPress();
  had.catch(() => undefined);
  let isLost = false;

  return {
    memory: machine.memory,
    isRequired: setting === 'machine',
    async create(folder) {
      const last = await readKeptPhp(file);
      const wasm = { engine: 'wasm', version: null } as const;
      const against = await whyNotMachine({ setting, last, hasWordPress: () => had });
      if (against !== null) {
        await keep(last, wasm);
        throw new Error(against);
      }
      let engine: PhpEngine;
      try {
        engine = await machine.create(folder, last?.version ?? null);
      } catch (error) {
        if (setting === 'machine') throw error;
        // A host without websites has lost nothing, and those that it gets now begin in WebAssembly.
        if (last?.engine !== 'machine' || !(await hasWordPress())) {
          await keep(last, wasm);
          throw error;
        }
        if (!isLost) {
          log.warn({ err: error }, "the machine's PHP is lost: websites run in WebAssembly until it is back");
        }
        isLost = true;
        throw new PhpLostError(messageOf(error), { cause: error });
      }
      const version = engine.version.split('.').slice(0, 2).join('.');
      if (last?.engine === 'machine' && last.version !== version) {
        log.warn(
          { version, formerVersion: last.version },
          "websites get another version of the machine's PHP",
        );
      }
      isLost = false;
      await keep(last, { engine: 'machine', version });
      return engine;
    },
  };
}

/** Why the machine's PHP is not tried, as a clause; null if it is. */
export async function whyNotMachine({
  setting,
  last,
  hasWordPress,
}: Pick<PhpChoiceOptions, 'setting' | 'hasWordPress'> & { last: KeptPhp | null }): Promise<string | null> {
  if (setting === 'wasm') return WANTS_WASM;
  const isOpen = setting === 'machine' || last?.engine === 'machine' || !(await hasWordPress());
  return isOpen ? null : BEGAN_IN_WASM;
}

/** Runs `report` with the version of PHP that websites have, unless it has been reported already, by a former server or this one. */
export async function reportPhp(
  file: string,
  version: string,
  report: (version: string) => Promise<void>,
): Promise<void> {
  if ((await readKeptPhp(file))?.reported === version) return;
  await report(version);
  // Another PHP may have been chosen meanwhile.
  const last = await readKeptPhp(file);
  if (last !== null) await writeDurably(file, JSON.stringify({ ...last, reported: version }));
}

/** Null before the first choice, and if the content cannot be used. */
export async function readKeptPhp(file: string): Promise<KeptPhp | null> {
  const text = await ifThere(readFile(file, 'utf8'));
  try {
    const value: unknown = text === null ? null : JSON.parse(text);
    return kept.Check(value) ? value : null;
  } catch {
    return null;
  }
}
