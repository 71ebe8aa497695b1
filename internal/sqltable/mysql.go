// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/locus-db/locus/internal/tabular"
)

// mysql is a transaction of MySQL or MariaDB. Values come as texts, as the server writes them; only its transactional
// tables are read as they were at one time.
type mysql struct {
	db      *sql.DB
	conn    *sql.Conn
	numbers map[string]string // how a parameter is converted for comparison with a column of numbers
}

// openMySQL opens a database by URL, mysql://USER@HOST:PORT/DATABASE, with tls=true, skip-verify or false, and
// socket=PATH. The password is in the URL or in MYSQL_PWD.
func openMySQL(ctx context.Context, name string) (database, error) {
	config, err := mysqlConfig(name)
	if err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	m := &mysql{db: sql.OpenDB(connector), numbers: map[string]string{}}
	if m.conn, err = m.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, m.close())
	}
	for _, statement := range []string{
		"SET time_zone = '+00:00', net_write_timeout = 600, wait_timeout = 28800",
		"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	} {
		if _, err := m.conn.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(err, m.close())
		}
	}
	return m, nil
}

func mysqlConfig(name string) (*driver.Config, error) {
	u, err := url.Parse(name)
	if err != nil { // the error may have the password
		return nil, fmt.Errorf("the URL %s cannot be parsed; in a password, write characters such as / and @ as %%2F and %%40", Name(name))
	}
	c := driver.NewConfig()
	c.Net, c.Addr = "tcp", net.JoinHostPort(orElse(u.Hostname(), "localhost"), orElse(u.Port(), "3306"))
	if c.User = u.User.Username(); c.User == "" {
		if self, err := user.Current(); err == nil {
			c.User = self.Username
		}
	}
	given := false
	if c.Passwd, given = u.User.Password(); !given {
		c.Passwd = os.Getenv("MYSQL_PWD")
	}
	c.DBName, c.TLSConfig, c.Timeout = strings.Trim(u.Path, "/"), "preferred", 15*time.Second
	c.InterpolateParams, c.Logger = true, &driver.NopLogger{} // results are texts then, whatever the parameters
	for key, values := range u.Query() {
		switch key {
		case "socket":
			c.Net, c.Addr = "unix", values[0]
		case "tls":
			c.TLSConfig = values[0]
		default:
			return nil, fmt.Errorf("the parameter %.40q of the URL is not known: there are socket and tls", key)
		}
	}
	return c, nil
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (m *mysql) close() error {
	var err error
	if m.conn != nil {
		if err = m.conn.Close(); errors.Is(err, sqldriver.ErrBadConn) {
			err = nil // a result that was not read to its end has ended the connection
		}
	}
	return errors.Join(err, m.db.Close())
}

func (m *mysql) quote(name string) string    { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
func (m *mysql) selected(name string) string { return m.quote(name) }

func (m *mysql) param(_ int, column string) string {
	if number := m.numbers[column]; number != "" {
		return "CAST(? AS " + number + ")" // compared with a text, large numbers would be rounded
	}
	return "?"
}

// after compares column by column: the server finds the rows of such a condition by the index, and those of a tuple
// not.
func (m *mysql) after(key, params []string) string {
	var any []string
	for i := range key {
		var all []string
		for j := range i {
			all = append(all, key[j]+" = "+params[j])
		}
		any = append(any, "("+strings.Join(append(all, key[i]+" > "+params[i]), " AND ")+")")
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// afterArgs returns the arguments of after.
func (m *mysql) afterArgs(values []string) (args []string) {
	for i := range values {
		args = append(args, values[:i+1]...)
	}
	return args
}

func (m *mysql) describe(ctx context.Context, from, table string) (columns []column, key []string, err error) {
	types, err := columnTypes(ctx, m.conn, from)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range types {
		c := column{name: t.Name()}
		name := t.DatabaseTypeName()
		unsigned := strings.HasPrefix(name, "UNSIGNED ")
		switch name = strings.TrimPrefix(name, "UNSIGNED "); name {
		case "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "GEOMETRY", "VECTOR":
			c.binary = "bytes (" + name + ")"
		case "BIT":
			c.texts = func(text string) ([]string, error) { return []string{bits(text)}, nil }
		case "DATETIME":
			c.texts = func(text string) ([]string, error) {
				return []string{isoText(text, "2006-01-02 15:04:05", tabular.FormatLocal)}, nil
			}
		case "TIMESTAMP":
			c.texts = func(text string) ([]string, error) {
				return []string{isoText(text, "2006-01-02 15:04:05", tabular.FormatTime)}, nil
			}
		case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR":
			if m.numbers[c.name] = "SIGNED"; unsigned {
				m.numbers[c.name] = "UNSIGNED"
			}
		case "DECIMAL":
			m.numbers[c.name] = "DECIMAL(65, 30)"
		}
		columns = append(columns, c)
	}
	if table == "" {
		return columns, nil, nil
	}
	schema, name, found := strings.Cut(table, ".")
	if !found {
		schema, name = "", table
	}
	parts, err := list(ctx, m, `SELECT column_name FROM information_schema.key_column_usage WHERE constraint_name = 'PRIMARY'
		AND table_schema = coalesce(nullif(?, ''), database()) AND table_name = ? ORDER BY ordinal_position`, schema, name)
	for _, part := range parts {
		key = append(key, part[0])
	}
	return columns, key, err
}

// bits writes the bytes of a BIT column as a number.
func bits(text string) string {
	n := uint64(0)
	for i := range len(text) {
		n = n<<8 | uint64(text[i])
	}
	return strconv.FormatUint(n, 10)
}

func (m *mysql) tables(ctx context.Context) (names []string, err error) {
	found, err := list(ctx, m, `SELECT CASE WHEN table_schema = database() THEN table_name ELSE concat(table_schema, '.', table_name) END AS name
		FROM information_schema.tables WHERE table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
		ORDER BY table_schema = database() DESC, name LIMIT 21`)
	for _, row := range found {
		names = append(names, row[0])
	}
	return names, err
}

func (m *mysql) query(ctx context.Context, statement string, args []string) (rows, error) {
	return sqlQuery(ctx, m.conn, statement, args)
}
