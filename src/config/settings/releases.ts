import { optional, setting } from './setting.ts';
import { baseUrl, oneOf } from './setting-values.ts';

/** Releases of Homeport itself. */
export const RELEASE_SETTINGS = {
  releasesUrl: optional(
    'HOMEPORT_RELEASES_URL',
    'none: no new releases are known',
    'address of the list of Homeport’s releases, `releases.json`; their files are beside it',
    baseUrl,
  ),
  updateCheck: setting(
    'HOMEPORT_UPDATE_CHECK',
    'on',
    '`on`: the server reads that list once a day, and operators see newer releases; `off`: never',
    oneOf(['on', 'off']),
  ),
};
