import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { phpMemoryMb } from '../../app/embedded-php.ts';
import { embeddedWordPress } from '../../app/embedded-websites.ts';
import type { Config } from '../../config/config.ts';
import { availableMemory } from '../../lib/available-memory.ts';
import { ifThere } from '../../lib/if-there.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'WordPress';
const MIB = 1024 * 1024;

type Settings = Pick<Config, 'dataDir' | 'host' | 'embeddedPhp' | 'embeddedPhpMb' | 'wordpressSource'>;

interface Parts {
  inspect?: typeof embeddedWordPress;
  machineMb?: number;
}

/** Checks that the embedded host can run WordPress: PHP, a source of WordPress, memory and bubblewrap. */
export async function checkEmbeddedWordPress(
  config: Settings,
  { inspect = embeddedWordPress, machineMb = Math.floor(availableMemory() / MIB) }: Parts = {},
): Promise<Finding[]> {
  if (config.host !== 'embedded') return [];
  const inspected = await inspect(config);
  const { missing, unconfined, versions, websites, lacking, machine, isLost, processMb } = inspected;
  const severity = websites > 0 ? problem : warning;
  if (config.embeddedPhpMb === 0) {
    const text = 'PHP is off, so this host serves static websites only (HOMEPORT_EMBEDDED_PHP_MB=0).';
    return [websites > 0 ? problem(CHECK, text, 'Remove the setting.') : ok(CHECK, text)];
  }
  if (missing !== null) {
    return [severity(CHECK, `WordPress cannot run: ${missing}.`, 'Install them and restart Homeport.')];
  }
  if (machine !== null && 'reason' in machine && config.embeddedPhp === 'machine') {
    return [
      severity(
        CHECK,
        `WordPress cannot run on this machine's PHP: ${machine.reason}.`,
        'Remove that cause, or HOMEPORT_EMBEDDED_PHP, and restart Homeport.',
      ),
    ];
  }
  const findings: Finding[] = [];
  if (!(await hasSource(config))) {
    findings.push(
      (versions.length > 0 ? warning : severity)(
        CHECK,
        `The source of WordPress, ${config.wordpressSource}, does not exist.`,
        'Set HOMEPORT_WORDPRESS_SOURCE to a folder or an archive with WordPress, or remove it.',
      ),
    );
  }
  if (lacking.length > 0) {
    findings.push(
      problem(
        CHECK,
        `Websites need WordPress ${lacking.join(', ')}, which this host lacks.`,
        'Connect the machine to the Internet or set HOMEPORT_WORDPRESS_SOURCE, then restart Homeport.',
      ),
    );
  }
  const memoryMb = phpMemoryMb(config);
  if (memoryMb > machineMb) {
    findings.push(
      warning(
        CHECK,
        `PHP may use ${memoryMb} MiB, and the machine has ${machineMb} MiB.`,
        'Lower HOMEPORT_EMBEDDED_PHP_MB.',
      ),
    );
  }
  if (memoryMb < processMb) {
    findings.push(
      warning(
        CHECK,
        `PHP may use ${memoryMb} MiB, and one website takes up to ${processMb} MiB.`,
        `Set HOMEPORT_EMBEDDED_PHP_MB to ${processMb} or more, or to 0 for static websites only.`,
      ),
    );
  }
  if (unconfined !== null) {
    findings.push(
      warning(
        CHECK,
        `PHP runs without bubblewrap: ${reasonOf(unconfined)}.`,
        `Host only websites of people you trust, or ${unconfined.remedy} and restart Homeport.`,
      ),
    );
  }
  const why = machine !== null && 'reason' in machine ? machine.reason : null;
  if (isLost && why !== null) {
    findings.push(
      warning(
        CHECK,
        `Websites ran on the PHP of this machine, and run PHP ${inspected.wasmVersion} as WebAssembly now: ${why}.`,
        'Remove that cause. Or set HOMEPORT_EMBEDDED_PHP=wasm and restart Homeport.',
      ),
    );
    return findings;
  }
  if (findings.length > 0) {
    const other = `Websites run PHP as WebAssembly, and do not use that of this machine: ${why}.`;
    return why === null ? findings : [...findings, ok(CHECK, other)];
  }
  const [newest] = versions;
  const core =
    newest === undefined
      ? 'The first website fetches WordPress from its source'
      : `New websites get ${newest}`;
  const atOnce = Math.floor(memoryMb / processMb);
  const text = `${core}. ${memoryMb} MiB let ${counted(atOnce)} run ${engineIn(inspected)} at the same time.`;
  const isMachine = machine !== null && 'version' in machine;
  return [ok(CHECK, text + choiceOf(config, { why, isMachine, websites }))];
}

/** A sentence on the choice between the PHP of this machine and WebAssembly. `why`: the reason against the machine's; null without one. */
function choiceOf(
  { embeddedPhp }: Settings,
  { why, isMachine, websites }: { why: string | null; isMachine: boolean; websites: number },
): string {
  if (why !== null) return ` They do not use the PHP of this machine: ${why}.`;
  if (embeddedPhp !== 'auto' || !isMachine) return '';
  // Doctor has tried it now, and the server before.
  return websites > 0
    ? ' A website that started while that PHP was lost runs as WebAssembly until its next start.'
    : ' If they could not when Homeport started, they run as WebAssembly until it restarts.';
}

/** The PHP of websites, and its walls. */
function engineIn({ machine, wasmVersion }: Awaited<ReturnType<typeof embeddedWordPress>>): string {
  return machine === null || 'reason' in machine
    ? `PHP ${wasmVersion} as WebAssembly${process.platform === 'linux' ? ' in bubblewrap' : ''}`
    : `PHP ${machine.version} of this machine in bubblewrap`;
}

/** Whether a source that is a file or folder exists. */
async function hasSource({ wordpressSource: source }: Settings): Promise<boolean> {
  return source === null || !isAbsolute(source) || (await ifThere(stat(source))) !== null;
}

const counted = (websites: number): string => (websites === 1 ? '1 website' : `${websites} websites`);
