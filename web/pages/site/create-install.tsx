import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { useInstallOptions } from '../../api/installs.ts';
import type { Site } from '../../api/sites.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EnvironmentField } from '../../components/environment-field.tsx';
import { type Environment, environmentOf } from '../../components/environments.ts';
import { SelectField, TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { sortRows } from '../../components/sort-rows.ts';
import { showSuccess } from '../../components/toast.tsx';
import { INSTALL_NAME_RULE, installNameFault } from './install-name.ts';

interface Start {
  accountId: string;
  /** Those that the install may be in. */
  sites: readonly Site[];
  /** Where it is asked for from the place that it shall fill. */
  place?: { siteId: string; environment: Environment } | undefined;
}

/** Asks what a new install shall be, and goes there. */
export function CreateInstallDialog({
  open,
  onOpenChange,
  ...start
}: Start & { open: boolean; onOpenChange(open: boolean): void }) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create an install"
      description="A website of its own, with its files, its database and an address at once."
    >
      <CreateInstallForm {...start} onCancel={() => onOpenChange(false)} />
    </Dialog>
  );
}

function CreateInstallForm({ accountId, sites, place, onCancel }: Start & { onCancel(): void }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [siteId, setSiteId] = useState(place?.siteId ?? '');
  const site = sites.find(({ id }) => id === siteId);
  const fault = installNameFault(name);

  async function create(values: FormData) {
    const php = textOf(values, 'php_version');
    const install = await unwrap(
      hosting.POST('/installs', {
        body: {
          name,
          account_id: accountId,
          site_id: siteId === '' ? null : siteId,
          environment: environmentOf(textOf(values, 'environment')),
          ...(php === '' ? {} : { php_version: php }),
        },
      }),
    );
    void queries.invalidateQueries({ queryKey: ['install', accountId] });
    void queries.invalidateQueries({ queryKey: ['site'] });
    showSuccess(`The install ${install.name} is being made.`);
    navigate(`/installs/${install.id}`);
  }

  return (
    <Form
      submitLabel="Create the install"
      disabled={fault !== null}
      actions={<Button onClick={onCancel}>Cancel</Button>}
      onSubmit={create}
    >
      <InstallNameField name={name} fault={fault} onChange={setName} />
      <SelectField
        label="Site"
        name="site_id"
        value={siteId}
        onChange={(event) => setSiteId(event.currentTarget.value)}
        options={[
          { value: '', label: 'In no site' },
          ...sortRows(sites, (one) => one.name, 'ascending').map((one) => ({
            value: one.id,
            label: one.name,
          })),
        ]}
      />
      <EnvironmentField key={siteId} site={site} preferred={place?.environment} />
      <PhpField />
    </Form>
  );
}

function InstallNameField({
  name,
  fault,
  onChange,
}: {
  name: string;
  fault: string | null;
  onChange(name: string): void;
}) {
  const { data: options } = useInstallOptions();
  const told = fault ?? (name && options ? `Its address will be ${name}.${options.site_domain}.` : '');
  return (
    <TextField
      label="Name"
      name="name"
      required
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={name}
      onChange={(event) => onChange(event.currentTarget.value)}
      hint={
        <>
          {INSTALL_NAME_RULE} <strong aria-live="polite">{told}</strong>
        </>
      }
    />
  );
}

/** Only where websites run PHP at all. */
function PhpField() {
  const { data: options } = useInstallOptions();
  if (!options || options.php_versions.length === 0) return null;
  return (
    <SelectField
      label="PHP version"
      name="php_version"
      options={options.php_versions.map((version, index) => ({
        value: version,
        label: index === 0 ? `${version} (newest)` : version,
      }))}
    />
  );
}
