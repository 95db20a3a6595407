import { CommandError, runCommand } from '../../../lib/run-command.ts';

/** Properties of a unit. */
export interface UnitStatus {
  /** `shop.service` */
  id: string;
  /** `active`, `activating`, `inactive`, `failed`, …: systemd(1). */
  activeState: string;
  /** Main process; 0 without one. */
  mainPid: number;
  /** Another one for each start; empty if it has not been started. */
  invocation: string;
  /** More precise than `activeState`: `auto-restart` while it waits for its next start. */
  subState: string;
  /** Automatic restarts since the last requested start. */
  restarts: number;
  /** Null if it does not run, or systemd does not count its memory. */
  memoryBytes: number | null;
  /** How its last run ended: `success`, `exit-code`, `signal`, `core-dump`, `timeout`, … */
  result: string;
  /** Its last announcement, sd_notify(3); empty without one. */
  statusText: string;
  /** Whether its file has changed since systemd read it. */
  needsReload: boolean;
}

/** Whether a unit runs, or is about to. One that failed while it was stopped is stopped: Homeport's units start again after every other failure. */
export const isRunning = ({ activeState }: Pick<UnitStatus, 'activeState'>): boolean =>
  activeState !== 'inactive' && activeState !== 'failed';

export interface Systemctl {
  /** `start`, `stop`, `restart`: resolves when done. */
  run(verb: 'start' | 'stop' | 'restart', unit: string): Promise<void>;
  /** Starts a unit without waiting until it is up. */
  beginStart(unit: string): Promise<void>;
  /** No longer starts a unit with the machine. */
  disable(unit: string): Promise<void>;
  reload(): Promise<void>;
  forgetFailure(unit: string): Promise<void>;
  kill(unit: string, signal: NodeJS.Signals): Promise<void>;
  show(units: readonly string[]): Promise<UnitStatus[]>;
  /** Output of `systemctl status`, with the unit's last log lines. */
  explain(unit: string): Promise<string>;
}

/** On a slow or busy machine, stopping the database server or reloading all units takes minutes. */
const TIMEOUT_MS = 600_000;
const PROPERTIES =
  'Id,ActiveState,SubState,MainPID,InvocationID,NRestarts,MemoryCurrent,Result,StatusText,NeedDaemonReload';

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
    disable: async (unit) => void (await systemctl('disable', '--quiet', '--', unit)),
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
        // The exit status reflects the unit's state: 0 only if it runs.
        if (error instanceof CommandError) return error.stdout || error.stderr;
        throw error;
      }
    },
  };
}

/** Parses blocks of `Name=value`, one per unit, separated by empty lines. */
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
        memoryBytes: /^\d+$/.test(property('MemoryCurrent')) ? Number(property('MemoryCurrent')) : null,
        result: property('Result'),
        statusText: property('StatusText'),
        needsReload: property('NeedDaemonReload') === 'yes',
      };
    });
}
