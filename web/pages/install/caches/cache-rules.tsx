import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { type CacheRules, ofInstall, useCacheRules } from '../../../api/rules.ts';
import { TextArea, TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { linesOf } from '../../../components/lines.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';
import { pathLines, readPathLines } from './cache-rule-lines.ts';

/** What the page cache of an install keeps, and for how long. */
export function CacheRulesSection({ installId, mayWork }: { installId: string; mayWork: boolean }) {
  const query = useCacheRules(installId);
  return (
    <Section title="Rules of the page cache">
      <p>
        Pages for visitors who are logged in or have a cart are never cached, nor are carts and checkouts. Add
        rules for pages and cookies of your own plugins.
      </p>
      <Loaded query={query} what="the rules">
        {(rules) => <RulesForm installId={installId} rules={rules} mayWork={mayWork} />}
      </Loaded>
    </Section>
  );
}

function RulesForm({
  installId,
  rules,
  mayWork,
}: {
  installId: string;
  rules: CacheRules;
  mayWork: boolean;
}) {
  const queries = useQueryClient();
  const draft = useDraft({
    resource: rules,
    fieldsOf: ({ max_age, uncached_paths, bypass_cookies, ignored_parameters }) => ({
      max_age: String(max_age),
      uncached_paths: pathLines(uncached_paths),
      bypass_cookies: bypass_cookies.join('\n'),
      ignored_parameters: ignored_parameters.join('\n'),
    }),
    read: () => hosting.GET('/installs/{install_id}/cache_rules', ofInstall(installId)),
    async save({ max_age, uncached_paths, bypass_cookies, ignored_parameters }, header) {
      const saved = await unwrap(
        hosting.PATCH('/installs/{install_id}/cache_rules', {
          params: { path: { install_id: installId }, header },
          body: {
            ...(max_age === undefined ? {} : { max_age: Number(max_age) }),
            ...(uncached_paths === undefined ? {} : { uncached_paths: readPathLines(uncached_paths) }),
            ...(bypass_cookies === undefined ? {} : { bypass_cookies: linesOf(bypass_cookies) }),
            ...(ignored_parameters === undefined ? {} : { ignored_parameters: linesOf(ignored_parameters) }),
          },
        }),
      );
      queries.setQueryData(['rules', installId, 'caching'], saved);
      await queries.invalidateQueries({ queryKey: ['operation', installId] });
      showSuccess('The rules are saved, and the page cache is purged.');
    },
  });

  return (
    <Form
      draft={draft}
      submitLabel="Save rules"
      disabled={!mayWork || !draft.isEdited}
      fieldOf={(name) => name.replace(/\..*$/, '')}
    >
      <TextField
        type="number"
        label="Longest time in the cache"
        required
        min={10}
        max={3_600}
        hint="In seconds, 10 to 3,600. Changes in WordPress show at once anyway."
        {...draft.field('max_age')}
      />
      <TextArea
        label="Addresses that are never cached"
        hint="One on each line: /members/ for one page, /members/* for everything below it, too."
        autoCapitalize="none"
        {...draft.field('uncached_paths')}
      />
      <TextArea
        label="Cookies that bypass the cache"
        hint="One name on each line. A final * stands for any ending: wishlist_*."
        autoCapitalize="none"
        {...draft.field('bypass_cookies')}
      />
      <TextArea
        label="Query parameters to ignore"
        hint="One name on each line: parameters that change nothing on a page. Those of campaigns, such as utm_source, are ignored anyway."
        autoCapitalize="none"
        {...draft.field('ignored_parameters')}
      />
    </Form>
  );
}
