import type { ReactNode } from 'react';
import { type Install, useInstalls } from '../../../api/installs.ts';
import { useSites } from '../../../api/sites.ts';
import { Button } from '../../../components/button.tsx';
import { environmentLabel } from '../../../components/environments.ts';
import { SelectField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty } from '../../../components/page.tsx';
import { sortRows } from '../../../components/sort-rows.ts';

export interface Target {
  id: string;
  name: string;
}

/**
 * Lets the user choose a target: optionally the install itself, then the installs of its site, then all others of the
 * account.
 */
export function TargetForm({
  install,
  label,
  withItself = false,
  children,
  onChosen,
  onCancel,
}: {
  install: Install;
  label: string;
  withItself?: boolean;
  /** Additional fields. */
  children?: ReactNode;
  onChosen(target: Target, values: FormData): void;
  onCancel(): void;
}) {
  const query = useInstalls(install.account.id);
  const sites = useSites(install.account.id);
  /** Includes the site, because users with many installs do not know every name. */
  const labelOf = ({ id, name, site, environment }: Install) => {
    if (id === install.id) return `${name} (this install)`;
    const siteName = sites.data?.find((one) => one.id === site?.id)?.name;
    return siteName === undefined ? name : `${name} (${environmentLabel(environment)} of ${siteName})`;
  };
  const rankOf = ({ id, site }: Install) => {
    if (id === install.id) return 0;
    return site !== null && site.id === install.site?.id ? 1 : 2;
  };
  return (
    <Loaded query={query} what="installs">
      {(installs) => {
        const targets = installs.filter(
          ({ id, status }) => status === 'active' && (withItself || id !== install.id),
        );
        if (targets.length === 0) {
          return <Empty>This account has no {withItself ? '' : 'other '}active installs.</Empty>;
        }
        const byName = sortRows(targets, labelOf, 'ascending');
        const options = sortRows(byName, rankOf, 'ascending').map((target) => ({
          value: target.id,
          label: labelOf(target),
        }));
        return (
          <Form
            submitLabel="Continue"
            onSubmit={async (values) => {
              const chosen = targets.find(({ id }) => id === textOf(values, 'into_install_id'));
              if (chosen) onChosen(chosen, values);
            }}
            actions={<Button onClick={onCancel}>Cancel</Button>}
          >
            <SelectField
              label={label}
              name="into_install_id"
              hint="Another install keeps its name and domains, and gets this install's files and database."
              defaultValue={options[0]?.value}
              options={options}
            />
            {children}
          </Form>
        );
      }}
    </Loaded>
  );
}
