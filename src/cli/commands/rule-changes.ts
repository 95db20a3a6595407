import type { Static, TObject } from '../../api/schema.ts';
import { type BodyDefinition, bodyParser } from '../../api/validation.ts';
import { updateCacheRulesBody } from '../../features/websites/rules/caching/schema.ts';
import { updateProtectionBody } from '../../features/websites/rules/protection/schema.ts';
import { importRedirectsBody } from '../../features/websites/rules/redirects/schema.ts';

/** Each returns the change if it fits the schema of the API, and throws InvalidRequest otherwise. */
export const protectionChange = (change: object) => checked(updateProtectionBody, change);
export const redirectImport = (change: object) => checked(importRedirectsBody, change);
export const cacheRulesChange = (change: object) => checked(updateCacheRulesBody, change);

function checked<Schema extends TObject>(definition: BodyDefinition<Schema>, change: object): Static<Schema> {
  return bodyParser(definition)(change);
}
