import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { type PhpMemory, WASM_MEMORY } from '../../policy/wasm-php-limits.ts';
import { type OtherPhp, type PhpEngine, PhpLostError } from './php-engine.ts';
import type { PhpSitesOptions } from './php-sites.ts';

/** The PHP that websites run on, if it is not WebAssembly; else null. */
export interface EngineChoice {
  /** The one that was found last. Looks for it at the first call. */
  engine(): Promise<PhpEngine | null>;
  /** The one after an update of the machine: removed or replaced programs are looked for again. */
  presentEngine(): Promise<PhpEngine | null>;
  /** Looks again, unless another one has been found meanwhile. */
  anotherThan(engine: PhpEngine): Promise<PhpEngine | null>;
  /** Of the websites on it. */
  readonly memory: PhpMemory;
  /** Why websites do not run on the machine's PHP, as a clause. */
  readonly notMachine: string | null;
  close(): Promise<void>;
}

type ChoiceOptions = Pick<PhpSitesOptions, 'folder' | 'lookMs' | 'onChosen' | 'log'>;

/** `closing` aborts when the runtime closes. */
export function createEngineChoice(
  other: OtherPhp | null,
  { folder, lookMs = MINUTE_MS, onChosen, log }: ChoiceOptions,
  closing: AbortSignal,
): EngineChoice {
  let chosen: Promise<PhpEngine | null> | undefined;
  let notMachine: string | null = null;
  /** Engines in use, and those whose programs are gone. Their processes may still run. */
  const engines: PhpEngine[] = [];
  let nextLook: NodeJS.Timeout | undefined;
  /** The look for a lost PHP, beside requests. */
  let looking: Promise<void> | undefined;
  let memory = other?.isRequired ? other.memory : WASM_MEMORY;

  function engineOf(): Promise<PhpEngine | null> {
    if (other === null) return Promise.resolve(null);
    if (chosen !== undefined) return chosen;
    const choosing = choose(other);
    chosen = choosing;
    choosing.catch(() => {
      chosen = undefined;
    });
    return choosing;
  }

  async function choose(wanted: OtherPhp): Promise<PhpEngine | null> {
    try {
      const engine = await wanted.create(folder);
      engines.push(engine);
      const { version, walls } = engine;
      log.info({ version, walls }, "websites run on the machine's PHP");
      memory = wanted.memory;
      notMachine = null;
      return engine;
    } catch (error) {
      if (wanted.isRequired) throw error;
      memory = WASM_MEMORY;
      const reason = messageOf(error);
      if (reason !== notMachine) {
        log.info({ reason }, "websites run on PHP as WebAssembly, not on the machine's");
      }
      notMachine = reason;
      if (error instanceof PhpLostError && !closing.aborted) {
        nextLook = setTimeout(() => {
          looking = lookAgain(wanted);
        }, lookMs);
        nextLook.unref();
      }
      return null;
    }
  }

  /** Websites get a lost PHP back at their next start. Requests do not wait for the look. */
  async function lookAgain(wanted: OtherPhp): Promise<void> {
    const engine = await choose(wanted);
    if (engine === null || closing.aborted) return;
    chosen = Promise.resolve(engine);
    onChosen?.();
  }

  async function anotherThan(engine: PhpEngine): Promise<PhpEngine | null> {
    closing.throwIfAborted();
    if ((await chosen) === engine) {
      log.warn({ version: engine.version }, "the machine's PHP has changed; looking for it again");
      chosen = undefined;
      const choosing = engineOf();
      choosing.then(
        () => onChosen?.(),
        () => undefined,
      );
    }
    return engineOf();
  }

  return {
    engine: engineOf,
    anotherThan,
    async presentEngine() {
      const engine = await engineOf();
      if (engine === null || (await engine.isUsable())) return engine;
      return anotherThan(engine);
    },
    get memory() {
      return memory;
    },
    get notMachine() {
      return notMachine;
    },
    async close() {
      clearTimeout(nextLook);
      await chosen?.catch(() => null);
      await looking;
      for (const engine of engines) await engine.close();
    },
  };
}
