import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

const METHODS = ['get', 'post', 'patch', 'delete'] as const;

const Described = Type.Object({
  servers: Type.Array(Type.Object({ url: Type.String() })),
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Type.Object({ operationId: Type.String() }))),
});

/** The served description without the address of the server that served it, so that it is the same everywhere. */
export function portableDescription(served: unknown): Static<typeof Described> {
  const description = Value.Parse(Described, served);
  return { ...description, servers: [{ url: 'https://localhost:8443/v1' }] };
}

/** The source of a table of endpoints by operation id. */
export function endpointsOf({ paths }: Static<typeof Described>): string {
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method];
      return operation === undefined
        ? []
        : [`  ${operation.operationId}: { method: '${method.toUpperCase()}', path: '${path}' },`];
    }),
  );
  return [
    '// Generated from the description by `npm run client:generate`.',
    "import type { EndpointId } from './types.ts';",
    '',
    '/** Method and path of every endpoint, by operation id. */',
    'export const ENDPOINTS: Record<EndpointId, { method: string; path: string }> = {',
    ...rows.sort(),
    '};',
    '',
  ].join('\n');
}
