import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { type CacheRules, ofInstall, useCacheRules } from '../../../api/rules.ts';
import { TextArea, TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { linesOf } from '../../../components/lines.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
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
        {(rules) => (
          <RulesForm key={JSON.stringify(rules)} installId={installId} rules={rules} mayWork={mayWork} />
        )}
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

  async function save(values: FormData) {
    const lines = (name: string) => linesOf(textOf(values, name));
    const saved = await unwrap(
      hosting.PATCH('/installs/{install_id}/cache_rules', {
        ...ofInstall(installId),
        body: {
          uncached_paths: readPathLines(textOf(values, 'uncached_paths')),
          bypass_cookies: lines('bypass_cookies'),
          ignored_parameters: lines('ignored_parameters'),
          max_age: Number(textOf(values, 'max_age')),
        },
      }),
    );
    queries.setQueryData(['rules', installId, 'caching'], saved);
    await queries.invalidateQueries({ queryKey: ['operation', installId] });
    showSuccess('The rules are saved, and the page cache is purged.');
  }

  return (
    <Form
      submitLabel="Save rules"
      disabled={!mayWork}
      onSubmit={save}
      fieldOf={(name) => name.replace(/\..*$/, '')}
    >
      <TextField
        type="number"
        label="Longest time in the cache"
        name="max_age"
        required
        min={10}
        max={3_600}
        defaultValue={rules.max_age}
        hint="In seconds, 10 to 3,600. Changes in WordPress show at once anyway."
      />
      <TextArea
        label="Addresses that are never cached"
        name="uncached_paths"
        hint="One on each line: /members/ for one page, /members/* for everything below it, too."
        autoCapitalize="none"
        defaultValue={pathLines(rules.uncached_paths)}
      />
      <TextArea
        label="Cookies that bypass the cache"
        name="bypass_cookies"
        hint="One name on each line. A final * stands for any ending: wishlist_*."
        autoCapitalize="none"
        defaultValue={rules.bypass_cookies.join('\n')}
      />
      <TextArea
        label="Query parameters to ignore"
        name="ignored_parameters"
        hint="One name on each line: parameters that change nothing on a page. Those of campaigns, such as utm_source, are ignored anyway."
        autoCapitalize="none"
        defaultValue={rules.ignored_parameters.join('\n')}
      />
    </Form>
  );
}
