import { SANDBOX_COMPILED, type SandboxedInstall } from '../isolation/sandbox.ts';

/**
 * Settings with which PHP of a command reads the compiled core in its sandbox, which then needs `showCompiled`. Loading WordPress takes
 * half of the time. What PHP compiles itself is used once, so nothing is optimized. A command can replace files that it loads again, such as
 * a plugin, so PHP looks at their dates each time.
 */
export function commandSettings({
  compiledCore,
}: Pick<SandboxedInstall, 'compiledCore'>): Record<string, string | number> {
  if (compiledCore === undefined) return {};
  return {
    'opcache.enable_cli': 1,
    'opcache.file_cache': SANDBOX_COMPILED,
    'opcache.optimization_level': 0,
    'opcache.revalidate_freq': 0,
  };
}
