import type { Command } from 'commander';
import { configOf } from './configuration.ts';
import type { PlatformWork } from './on-platform.ts';

/** Runs a command's work on the configured platform, with or without a running server. */
export async function withPlatform(command: Command, work: PlatformWork): Promise<void> {
  const config = configOf(command);
  const { onPlatform } = await import('./on-platform.ts');
  await onPlatform(config, work);
}
