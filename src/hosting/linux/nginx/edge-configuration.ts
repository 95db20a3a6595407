import type { Logger } from 'pino';
import type { DefaultCertificate } from '../../policy/default-certificate.ts';
import type { EdgeMembership } from './edge-membership.ts';
import {
  EDGE_SIZES,
  type EdgeOptions,
  edgeOptions,
  hasBrotli,
  luaSettings,
  type TablePaths,
} from './edge-options.ts';
import { installLua, pruneLua } from './lua-files.ts';
import { type MachineOptionSources, readMachineOptions } from './machine-options.ts';
import { renderEdge } from './render-edge.ts';
import type { RenderedMain } from './render-main.ts';
import { testConfiguration } from './test-configuration.ts';

/** nginx's configuration, which changes only with the machine. Only one that nginx accepts becomes active. */
export interface EdgeConfiguration {
  /** Reads the machine's options. Required before anything else. */
  read(): Promise<void>;
  /** Activates the configuration on disk. Rejects without changes if nginx refuses it. */
  apply(): Promise<{ generation: string /** Whether it differs from the previous one. */; fresh: boolean }>;
  check(): Promise<{ generation: string /** Whether the file on disk is right. */; intact: boolean }>;
  /** Removes what only earlier configurations need, once nginx has the present one. */
  prune(): Promise<void>;
}

export interface EdgeConfigurationOptions extends MachineOptionSources {
  paths: TablePaths;
  own: DefaultCertificate;
  forwarding: Pick<EdgeMembership, 'options'>;
  log: Logger;
}

export function createEdgeConfiguration(options: EdgeConfigurationOptions): EdgeConfiguration {
  const { files, paths, own, forwarding, log } = options;
  let known: Omit<EdgeOptions, 'ownFingerprint' | 'forwarding'> | null = null;

  function machine(): Omit<EdgeOptions, 'ownFingerprint' | 'forwarding'> {
    if (known === null) throw new Error('the web server has not been started');
    return known;
  }

  const render = async (): Promise<RenderedMain> =>
    renderEdge({
      ...machine(),
      ownFingerprint: (await own.ensure()).fingerprint,
      forwarding: await forwarding.options(),
    });

  return {
    async read() {
      const brotli = await hasBrotli();
      const more = { sizes: EDGE_SIZES, brotli };
      const machineOptions = await readMachineOptions(options);
      const settings = luaSettings(paths, { ...more, ...machineOptions });
      const lua = await installLua(paths.lua, settings);
      known = edgeOptions(machineOptions, { ...more, lua });
    },

    async apply() {
      const { generation, text } = await render();
      if (text === (await files.currentText())) return { generation, fresh: false };
      const candidate = await files.writeGeneration(text);
      const { refusal, warnings } = await testConfiguration(candidate);
      if (refusal !== null) {
        await files.discard(candidate);
        throw new Error(`nginx refuses its configuration: ${refusal}`);
      }
      for (const warning of warnings) log.warn({ warning }, 'nginx finds its configuration odd');
      await files.switchTo(candidate);
      return { generation, fresh: true };
    },

    async check() {
      const { generation, text } = await render();
      return { generation, intact: text === (await files.currentText()) };
    },

    async prune() {
      await files.prune();
      await pruneLua(paths.lua, machine().lua);
    },
  };
}
