import type { Command } from 'commander';
import { type Config, readConfig } from '../../config/config.ts';
import { setOutboundProxy } from '../../lib/outbound-proxy.ts';

/**
 * The configuration for a command: the environment, and the file of the program's `--config`. The process uses its proxy from then on. Throws
 * ConfigError.
 */
export function configOf(command: Command): Config {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  const settings = readConfig(process.env, config);
  setOutboundProxy(settings);
  return settings;
}
