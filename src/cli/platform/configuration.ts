import type { Command } from 'commander';
import { type Config, readConfig } from '../../config/config.ts';

/** The configuration for a command: the environment, and the file of the program's `--config`. Throws ConfigError. */
export function configOf(command: Command): Config {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  return readConfig(process.env, config);
}
