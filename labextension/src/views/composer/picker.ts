/** The rows of the `@` picker at each of its two levels, and of the `/` commands. */
import { t } from '../../i18n';
import type { ConnectorRow, SkillRow } from '../../store/types';
import type { Suggestion } from './suggestions';
import { matches } from './token';
import type { Offered } from './use-selections';

export type Level = 'top' | 'skills' | 'servers';

export interface PickerActions {
  open(level: Level): void;
  takeSkill(row: SkillRow): void;
  takeServer(row: ConnectorRow): void;
}

/** At the top a query also finds skills and servers by name, so that `@rev` needs no detour. */
export function pickerRows(level: Level, query: string, offered: Offered, actions: PickerActions): Suggestion[] {
  const skills = (offered.skills ?? [])
    .filter(row => matches(query, row.name, row.label))
    .map(row => ({
      key: `skill ${row.name}`,
      label: row.label ?? row.name,
      detail: row.label && row.label !== row.name ? row.name : undefined,
      icon: 'skill' as const,
      take: () => actions.takeSkill(row)
    }));
  const servers = (offered.connectors ?? [])
    .filter(row => matches(query, row.server, row.label))
    .map(row => ({
      key: `server ${row.server}`,
      label: row.label ?? row.server,
      detail: row.label && row.label !== row.server ? row.server : undefined,
      icon: 'mcp' as const,
      take: () => actions.takeServer(row)
    }));
  if (level !== 'top') {
    return level === 'skills' ? skills : servers;
  }
  const groups: Suggestion[] = [
    { key: 'skills', label: t('Skills'), icon: 'skill' as const, opens: true, take: () => actions.open('skills') },
    {
      key: 'servers',
      label: t('MCP servers'),
      icon: 'mcp' as const,
      opens: true,
      take: () => actions.open('servers')
    }
  ];
  return query ? [...groups.filter(row => matches(query, row.label)), ...skills, ...servers] : groups;
}

export function pickerTitle(level: Level): string {
  return { top: t('Use in this message'), skills: t('Skills'), servers: t('MCP servers') }[level];
}

export function pickerEmpty(level: Level, query: string, offered: Offered): string {
  if (offered.problem) {
    return offered.problem;
  }
  const list = level === 'skills' ? offered.skills : level === 'servers' ? offered.connectors : [];
  if (list === undefined) {
    return t('Looking…');
  }
  if (query) {
    return t('Nothing is called “{query}”.', { query });
  }
  return level === 'skills' ? t('There are no skills yet.') : t('There are no MCP servers yet.');
}

export interface Command {
  word: string;
  does: string;
  run(): void;
}

export const commandRows = (query: string, commands: Command[]): Suggestion[] =>
  commands
    .filter(command => command.word.startsWith(query.toLowerCase()))
    .map(command => ({ key: command.word, label: `/${command.word}`, detail: command.does, take: command.run }));
