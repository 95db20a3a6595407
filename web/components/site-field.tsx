import { type ListedSite, useSiteList } from '../api/site-list.ts';
import { ChoiceField } from './choice-field.tsx';
import type { Environment } from './environments.ts';
import { LoadFailure } from './notice.tsx';
import { useSearchText } from './search-text.ts';

/** A site that a user can choose, with the environments that it has. */
export interface SiteChoice {
  id: string;
  name: string;
  installs: readonly { id: string; name: string; environment: Environment | null }[];
}

const NO_SITES: readonly ListedSite[] = [];

/** Loads the first sites of an account that match, by name. */
export const useFirstSites = (accountId: string, search: string) =>
  useSiteList(accountId, { search, tags: '' }, 'name', 0);

/** A choice of a site of an account, or none: the form field `site_id`. The server searches the sites. */
export function SiteField({
  accountId,
  chosen,
  onChange,
}: {
  accountId: string;
  chosen: SiteChoice | null;
  onChange(site: SiteChoice | null): void;
}) {
  const { setTyped, asked, isPaused } = useSearchText();
  const { data, error, isPlaceholderData, refetch } = useFirstSites(accountId, asked);
  const found = data?.results ?? NO_SITES;
  // The field itself reports a failed search.
  const hasNoSites = data === undefined && asked === '';
  return (
    <>
      <ChoiceField
        label="Site"
        name="site_id"
        value={chosen?.id ?? ''}
        chosen={chosen === null ? undefined : { value: chosen.id, label: chosen.name }}
        onChange={(id) => onChange([...found, chosen].find((site) => site?.id === id) ?? null)}
        options={[
          { value: '', label: 'No site' },
          ...found.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onServer={{ total: data?.total, onSearch: setTyped, isSettled: isPaused && !isPlaceholderData }}
      />
      {hasNoSites && error !== null && (
        <LoadFailure error={error} sentence="The sites could not be loaded." onRetry={() => refetch()} />
      )}
    </>
  );
}
