import { CommandError, runCommand } from '../machine/run-command.ts';

/** What systemd knows of a unit, of what is asked for here. */
export interface UnitStatus {
  /** `shop.service` */
  id: string;
  /** `active`, `activating`, `inactive`, `failed`, …: systemd(1). */
  activeState: string;
  /** 0 while there is none. */
  mainPid: number;
  /** More exact than `activeState`: `auto-restart` while the next start is waited for. */
  subState: string;
  /** Changes with each start; empty before the first. */
  invocation: string;
  /** How often it was started again since somebody asked for it. */
  restarts: number;
  /** Whether its file is another than the one that was read. */
  needsReload: boolean;
}

export interface Systemctl {
  /** `start`, `stop`, `restart`: resolves when that is done. */
  run(verb: 'start' | 'stop' | 'restart', unit: string): Promise<void>;
  /** Asks systemd to start a unit, and does not wait until that is done. */
  beginStart(unit: string): Promise<void>;
  reload(): Promise<void>;
  forgetFailure(unit: string): Promise<void>;
  kill(unit: string, signal: NodeJS.Signals): Promise<void>;
  show(units: readonly string[]): Promise<UnitStatus[]>;
  /** What `systemctl status` says, with the last lines that the unit wrote. */
  explain(unit: string): Promise<string>;
}

/** On a slow or busy machine, stopping the database server or reading all units again takes minutes. */
const TIMEOUT_MS = 600_000;
const PROPERTIES = 'Id,ActiveState,SubState,MainPID,NRestarts,NeedDaemonReload,InvocationID';

export function createSystemctl(program: string): Systemctl {
  const systemctl = async (...args: string[]) =>
    (await runCommand(program, ['--no-ask-password', '--no-pager', ...args], { timeoutMs: TIMEOUT_MS }))
      .stdout;

  async function unlessNotLoaded(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof CommandError && /not loaded/.test(error.stderr))) throw error;
    }
  }

  return {
    async run(verb, unit) {
      const done = systemctl(verb, '--', unit);
      await (verb === 'stop' ? unlessNotLoaded(done) : done);
    },
    beginStart: async (unit) => void (await systemctl('start', '--no-block', '--', unit)),
    reload: async () => void (await systemctl('daemon-reload')),
    forgetFailure: (unit) => unlessNotLoaded(systemctl('reset-failed', '--', unit)),
    kill: async (unit, signal) =>
      void (await systemctl('kill', '--kill-whom=main', `--signal=${signal}`, '--', unit)),
    async show(units) {
      if (units.length === 0) return [];
      return parseShow(await systemctl('show', `--property=${PROPERTIES}`, '--', ...units));
    },
    async explain(unit) {
      try {
        return await systemctl('status', '--full', '--lines=20', '--', unit);
      } catch (error) {
        // The status tells the state of the unit, 0 only for one that runs.
        if (error instanceof CommandError) return error.stdout || error.stderr;
        throw error;
      }
    },
  };
}

/** Blocks of `Name=value`, one a unit, with an empty line in between. */
export function parseShow(output: string): UnitStatus[] {
  return output
    .trim()
    .split('\n\n')
    .map((block) => {
      const properties = new Map(
        block.split('\n').map((line) => {
          const equals = line.indexOf('=');
          return [line.slice(0, equals), line.slice(equals + 1)] as const;
        }),
      );
      const property = (name: string) => properties.get(name) ?? '';
      return {
        id: property('Id'),
        activeState: property('ActiveState'),
        subState: property('SubState'),
        mainPid: Number(property('MainPID')),
        invocation: property('InvocationID'),
        restarts: Number(property('NRestarts')),
        needsReload: property('NeedDaemonReload') === 'yes',
      };
    });
}
