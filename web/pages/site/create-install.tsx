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
import { Form, textOf, useFieldError } from '../../components/form.tsx';
import { type SiteChoice, SiteField } from '../../components/site-field.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { INSTALL_NAME_RULE, installNameError } from './install-name.ts';
import { RuntimeField, runtimeOf } from './runtime-field.tsx';

interface Start {
  accountId: string;
  /** The environment that the user chose on the page of a site. */
  place?: { site: Site; environment: Environment } | undefined;
}

/** Creates an install and opens it. */
export function CreateInstallDialog({
  open,
  onOpenChange,
  ...start
}: Start & { open: boolean; onOpenChange(open: boolean): void }) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create install"
      description="A website with files, a database and its own address."
    >
      <CreateInstallForm {...start} onCancel={() => onOpenChange(false)} />
    </Dialog>
  );
}

function CreateInstallForm({ accountId, place, onCancel }: Start & { onCancel(): void }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [site, setSite] = useState<SiteChoice | null>(place?.site ?? null);
  const error = installNameError(name);

  async function create(values: FormData) {
    const php = textOf(values, 'php_version');
    const runtime = runtimeOf(textOf(values, 'runtime'));
    const install = await unwrap(
      hosting.POST('/installs', {
        body: {
          name,
          account_id: accountId,
          site_id: site?.id ?? null,
          environment: environmentOf(textOf(values, 'environment')),
          ...(php === '' ? {} : { php_version: php }),
          ...(runtime === null ? {} : { runtime }),
        },
      }),
    );
    void queries.invalidateQueries({ queryKey: ['install', accountId] });
    void queries.invalidateQueries({ queryKey: ['site'] });
    showSuccess(`Creating the install ${install.name}.`);
    navigate(`/installs/${install.id}`);
  }

  return (
    <Form
      submitLabel="Create install"
      disabled={error !== null}
      actions={<Button onClick={onCancel}>Cancel</Button>}
      onSubmit={create}
    >
      <InstallNameField name={name} error={error} onChange={setName} />
      <SiteField accountId={accountId} chosen={site} onChange={setSite} />
      <EnvironmentField key={site?.id ?? ''} site={site ?? undefined} preferred={place?.environment} />
      <RuntimeField />
      <PhpField />
    </Form>
  );
}

/** The name of a new install, with the address that it gives. */
export function InstallNameField({
  name,
  error,
  onChange,
}: {
  name: string;
  error: string | null;
  onChange(name: string): void;
}) {
  const { data: options } = useInstallOptions();
  // The server has refused the name that is in the field.
  const isRefused = useFieldError('name') !== undefined;
  const address = name && options && !isRefused ? `The address will be ${name}.${options.site_domain}.` : '';
  return (
    <TextField
      label="Install name"
      name="name"
      required
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={name}
      onChange={(event) => onChange(event.currentTarget.value)}
      hint={
        <>
          {INSTALL_NAME_RULE} <strong aria-live="polite">{error ?? address}</strong>
        </>
      }
    />
  );
}

/** Only shown if the platform runs PHP. */
export function PhpField() {
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
