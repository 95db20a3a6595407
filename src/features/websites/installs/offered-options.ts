import type { WordPressHere } from '../../../hosting/contract/embedded-wordpress.ts';
import type { Runtime } from '../../../hosting/contract/install-state.ts';
import type { Fault } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { type InstallOptions, loadInstallOptions } from '../../hosts/install-options.ts';
import { isReservedName } from './reserved-names.ts';

/** Whether the embedded host runs WordPress. */
export type AskForWordPress = () => Promise<WordPressHere>;

/** Returns the options that the hosts offer to new installs: names, runtimes and versions of PHP. */
export function createOfferedOptions(
  { config, database }: Pick<Platform, 'config' | 'database'>,
  wordpressHere: AskForWordPress,
) {
  /** The options of the hosts. The embedded host's PHP counts if the install is to run WordPress. */
  async function loadOptions(runtime: Runtime | null): Promise<InstallOptions> {
    if (config.host === 'linux') return loadInstallOptions(database.reader);
    const here = runtime === 'wordpress' ? await wordpressHere() : null;
    const phpVersions = here !== null && 'version' in here ? [here.version] : [];
    return { phpVersions, reservedNames: new Set(), publicNames: [] };
  }

  /** The runtime of a new install; null on Linux hosts, which run WordPress only. */
  async function chooseRuntime(wanted: Runtime | null): Promise<Runtime | null> {
    if (config.host === 'linux') return null;
    if (wanted !== null) return wanted;
    return config.installRuntime === 'wordpress' && 'version' in (await wordpressHere())
      ? 'wordpress'
      : 'static';
  }

  /** Why an install cannot have that runtime; null if it can. */
  async function faultOfRuntime(wanted: Runtime | null): Promise<string | null> {
    if (config.host === 'linux') {
      return wanted === 'static' ? 'The hosts run WordPress on every install' : null;
    }
    if (wanted !== 'wordpress') return null;
    const here = await wordpressHere();
    return 'reason' in here ? here.reason : null;
  }

  /** Checks an install against the hosts' options: its name must be free there, its PHP version and runtime offered. */
  async function faultsOfOptions(
    name: string,
    phpVersion: string | null,
    wanted: Runtime | null,
    runtime: Runtime | null,
  ): Promise<Fault[]> {
    const offers = await loadOptions(runtime);
    const faults: Fault[] = [];
    const refuse = (field: string, code: string, message: string) =>
      faults.push({ resource: 'Installation', field, type: 'invalid_value', code, message });
    // RFC 5891: such a label is the encoding of another text, which would be shown in its place, and can imitate another name.
    if (name.startsWith('xn--')) {
      refuse('name', 'invalid_format', `The name "${name}" begins with xn--; choose another`);
    }
    if (isReservedName(name, config, offers.publicNames) || offers.reservedNames.has(name)) {
      refuse('name', 'reserved', `The name "${name}" is reserved for the platform`);
    }
    const notRun = await faultOfRuntime(wanted);
    if (notRun !== null) refuse('runtime', 'not_offered', notRun);
    if (phpVersion !== null && !offers.phpVersions.includes(phpVersion)) {
      const offered =
        offers.phpVersions.length === 0
          ? 'websites here run no PHP'
          : `choose one of ${offers.phpVersions.join(', ')}`;
      refuse('php_version', 'not_offered', `PHP ${phpVersion} is not offered; ${offered}`);
    }
    return faults;
  }

  return { chooseRuntime, faultsOfOptions };
}
