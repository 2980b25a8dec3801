/** Skills and MCP servers to choose from. A server without these lists has none; other failures are told. */
import { ApiError, type Transport } from '../transport';
import type { ConnectorRow, Selections, SkillRow } from './types';

type Row = Record<string, unknown>;

export class SelectionLists implements Selections {
  constructor(private readonly transport: Transport) {}

  async skills(): Promise<SkillRow[]> {
    return (await this.list('skills', 'skills')).flatMap(row => {
      const name = text(row.name);
      return name ? [{ name, ...labelOf(row) }] : [];
    });
  }

  async connectors(): Promise<ConnectorRow[]> {
    return (await this.list('mcp/servers', 'servers')).flatMap(row => {
      const server = text(row.name) ?? text(row.server);
      return server ? [{ server, ...labelOf(row) }] : [];
    });
  }

  /** The list may be the answer or one of its fields. */
  private async list(path: string, field: string): Promise<Row[]> {
    let answer: unknown;
    try {
      answer = await this.transport.request('GET', path);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        return [];
      }
      throw error;
    }
    const fields = isRow(answer) ? [answer[field], answer.items] : [answer];
    const rows: unknown = fields.find(value => Array.isArray(value));
    return Array.isArray(rows) ? rows.filter(isRow) : [];
  }
}

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === 'string' && value ? value : undefined);
const labelOf = (row: Row): { label?: string } => {
  const label = text(row.label) ?? text(row.display_name) ?? text(row.title);
  return label ? { label } : {};
};
