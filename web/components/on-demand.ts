import { type ComponentType, lazy } from 'react';
import { isReachable, Unreachable } from '../api/failure.ts';

/**
 * Loads a component's script when the component first renders. Throws Unreachable if the server cannot be reached.
 */
export function onDemand<Module, Props extends object>(
  load: () => Promise<Module>,
  choose: (module: Module) => ComponentType<Props>,
) {
  return lazy(async () => {
    try {
      return { default: choose(await load()) };
    } catch (error) {
      throw (await isReachable()) ? error : new Unreachable('the script of a page', { cause: error });
    }
  });
}
