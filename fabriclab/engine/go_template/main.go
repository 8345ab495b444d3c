// Renders a Go template as Containerlab does: text/template itself, with the functions that Containerlab takes over
// from gomplate (https://docs.gomplate.ca, and Containerlab's utils/template.go for which they are).
//
// Standard input has one JSON object: name and text of the template, texts of the templates that it may include by
// name, and the variables. Standard output is the text. It imports the standard library only: `go run main.go` fetches
// nothing.
package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"text/template"
)

// mostNumbers bounds seq: a mistyped bound is an error, not all of memory.
const mostNumbers = 1000000

type job struct {
	Name     string            `json:"name"`
	Text     string            `json:"text"`
	Includes map[string]string `json:"includes"`
	Vars     any               `json:"vars"`
}

func main() {
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber()
	var given job
	err := decoder.Decode(&given)
	if err == nil {
		err = render(given)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(given job) error {
	whole, err := template.New(given.Name).Funcs(functions()).Parse(given.Text)
	if err != nil {
		return err
	}
	for name, text := range given.Includes {
		if _, err = whole.New(name).Parse(text); err != nil {
			return err
		}
	}
	return whole.Execute(os.Stdout, plain(given.Vars))
}

// plain gives numbers the types that a YAML reader gives them: int where they are whole.
func plain(value any) any {
	switch known := value.(type) {
	case json.Number:
		if whole, err := strconv.Atoi(known.String()); err == nil {
			return whole
		}
		part, _ := known.Float64()
		return part
	case map[string]any:
		for key, inner := range known {
			known[key] = plain(inner)
		}
	case []any:
		for index, inner := range known {
			known[index] = plain(inner)
		}
	}
	return value
}

func functions() template.FuncMap {
	return template.FuncMap{
		"ToJSON":       func(value any) (string, error) { text, err := json.Marshal(value); return string(text), err },
		"ToJSONPretty": pretty,
		"add":          overAll(func(a, b int64) int64 { return a + b }, func(a, b float64) float64 { return a + b }),
		"mul":          overAll(func(a, b int64) int64 { return a * b }, func(a, b float64) float64 { return a * b }),
		"subtract":     overTwo(func(a, b int64) int64 { return a - b }, func(a, b float64) float64 { return a - b }),
		"div":          div,
		"idiv":         whole(func(a, b int64) int64 { return a / b }),
		"rem":          whole(func(a, b int64) int64 { return a % b }),
		"seq":          seq,
		"slice":        func(values ...any) []any { return values },
		"strings":      func() texts { return texts{} },
		"conv":         func() conversions { return conversions{} },
		"net":          func() networks { return networks{} },
	}
}

func pretty(value any, prefix, indent string) (string, error) {
	text, err := json.MarshalIndent(value, prefix, indent)
	return string(text), err
}

func integer(value any) (int64, error) {
	switch known := value.(type) {
	case int:
		return int64(known), nil
	case int64:
		return known, nil
	case float64:
		return int64(known), nil
	case string:
		return strconv.ParseInt(strings.TrimSpace(known), 0, 64)
	}
	return 0, fmt.Errorf("expected a number, not %v", value)
}

func float(value any) (float64, error) {
	switch known := value.(type) {
	case float64:
		return known, nil
	case string:
		return strconv.ParseFloat(strings.TrimSpace(known), 64)
	}
	number, err := integer(value)
	return float64(number), err
}

// isPart tells whether a value is no whole number by how it is written.
func isPart(value any) bool {
	if text, ok := value.(string); ok {
		_, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64)
		return err != nil
	}
	_, ok := value.(float64)
	return ok
}

func overTwo(ints func(a, b int64) int64, floats func(a, b float64) float64) func(a, b any) (any, error) {
	return func(a, b any) (any, error) {
		if isPart(a) || isPart(b) {
			x, err := float(a)
			if err != nil {
				return nil, err
			}
			y, err := float(b)
			return floats(x, y), err
		}
		x, err := integer(a)
		if err != nil {
			return nil, err
		}
		y, err := integer(b)
		return ints(x, y), err
	}
}

// overAll takes two operands or more, as gomplate does.
func overAll(ints func(a, b int64) int64, floats func(a, b float64) float64) func(a, b any, more ...any) (any, error) {
	two := overTwo(ints, floats)
	return func(a, b any, more ...any) (any, error) {
		sum, err := two(a, b)
		for _, next := range more {
			if err == nil {
				sum, err = two(sum, next)
			}
		}
		return sum, err
	}
}

func whole(over func(a, b int64) int64) func(a, b any) (int64, error) {
	return func(a, b any) (int64, error) {
		x, err := integer(a)
		if err != nil {
			return 0, err
		}
		y, err := integer(b)
		if err == nil && y == 0 {
			err = fmt.Errorf("division by 0")
		}
		if err != nil {
			return 0, err
		}
		return over(x, y), nil
	}
}

func div(a, b any) (float64, error) {
	x, err := float(a)
	if err != nil {
		return 0, err
	}
	y, err := float(b)
	if err == nil && y == 0 {
		err = fmt.Errorf("division by 0")
	}
	return x / y, err
}

// seq counts from 1 to its operand, or from the first to the second, by steps of the third.
func seq(operands ...any) ([]int64, error) {
	numbers := make([]int64, len(operands))
	for index, operand := range operands {
		number, err := integer(operand)
		if err != nil {
			return nil, err
		}
		numbers[index] = number
	}
	start, end, step := int64(1), int64(0), int64(1)
	switch len(numbers) {
	case 1:
		end = numbers[0]
	case 2:
		start, end = numbers[0], numbers[1]
	case 3:
		start, end, step = numbers[0], numbers[1], numbers[2]
	default:
		return nil, fmt.Errorf("seq takes 1 to 3 numbers, not %d", len(numbers))
	}
	if step == 0 {
		return []int64{}, nil
	}
	if (end < start) != (step < 0) && end != start {
		step = -step
	}
	if (end-start)/step >= mostNumbers {
		return nil, fmt.Errorf("seq of more than %d numbers", mostNumbers)
	}
	found := []int64{}
	for number := start; (step > 0 && number <= end) || (step < 0 && number >= end); number += step {
		found = append(found, number)
	}
	return found, nil
}

type texts struct{}

// Split cuts a text where the separator stands.
func (texts) Split(separator string, value any) []string {
	return strings.Split(fmt.Sprint(value), separator)
}

// ReplaceAll puts one text in the place of another.
func (texts) ReplaceAll(old, by string, value any) string {
	return strings.ReplaceAll(fmt.Sprint(value), old, by)
}

type conversions struct{}

// Join puts a separator between the elements of a list.
func (conversions) Join(list any, separator string) (string, error) {
	switch known := list.(type) {
	case []string:
		return strings.Join(known, separator), nil
	case []int64:
		words := make([]string, len(known))
		for index, number := range known {
			words[index] = strconv.FormatInt(number, 10)
		}
		return strings.Join(words, separator), nil
	case []any:
		words := make([]string, len(known))
		for index, inner := range known {
			words[index] = fmt.Sprint(inner)
		}
		return strings.Join(words, separator), nil
	}
	return "", fmt.Errorf("Join takes a list, not %v", list)
}

// ToInt makes a whole number of a number or a text.
func (conversions) ToInt(value any) (int64, error) {
	return integer(value)
}

type networks struct{}

// CIDRHost returns the address of a number in a network; a negative one counts from its end.
func (networks) CIDRHost(number, network any) (string, error) {
	prefix, err := netip.ParsePrefix(fmt.Sprint(network))
	if err != nil {
		return "", err
	}
	index, err := integer(number)
	if err != nil {
		return "", err
	}
	size := new(big.Int).Lsh(big.NewInt(1), uint(prefix.Addr().BitLen()-prefix.Bits()))
	offset := big.NewInt(index)
	if index < 0 {
		offset.Add(offset, size)
	}
	if offset.Sign() < 0 || offset.Cmp(size) >= 0 {
		return "", fmt.Errorf("%s has no address %d", prefix, index)
	}
	bytes := prefix.Masked().Addr().AsSlice()
	sum := new(big.Int).Add(new(big.Int).SetBytes(bytes), offset)
	address, _ := netip.AddrFromSlice(sum.FillBytes(bytes))
	return address.String(), nil
}
