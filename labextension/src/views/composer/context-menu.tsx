/** `Attach context`: what the notebook offers now, and pictures from the disk. */
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { ContextChoice, Host, IconName } from '../../host';
import { t } from '../../i18n';
import { MenuButton, type MenuItem } from '../kit/menu';

const ICONS: Readonly<Record<ContextChoice['kind'], IconName>> = {
  cell: 'cell',
  cells: 'cell',
  selection: 'edit',
  outline: 'cell',
  variable: 'variable',
  file: 'open-tab'
};

export interface ContextMenuProps {
  host: Host;
  onContext(choice: ContextChoice): void;
  onPictures(files: File[]): void;
}

export function ContextMenu({ host, onContext, onPictures }: ContextMenuProps): VNode {
  const input = useRef<HTMLInputElement>(null);
  const items = async (): Promise<MenuItem[]> => {
    const found = host.notebook?.available() ? await host.notebook.context().catch(() => []) : [];
    return [
      ...found.map((choice, index) => ({
        key: `${index}`,
        label: choice.label,
        detail: choice.detail,
        icon: ICONS[choice.kind],
        onTake: () => onContext(choice)
      })),
      { key: 'picture', label: t('Picture…'), icon: 'image', onTake: () => input.current?.click() }
    ];
  };
  return (
    <>
      <MenuButton name={t('Attach context')} icon="attach" items={items} />
      <input
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        multiple
        hidden
        tabIndex={-1}
        aria-hidden="true"
        ref={input}
        onChange={event => {
          onPictures([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}
